with

unreadable as (
    select
        run_id,
        'rollouts' as file_kind,
        1 as line_count
    from {{ ref('stg_rollouts') }}
    where not is_readable
    union all
    select
        run_id,
        'inputs' as file_kind,
        1 as line_count
    from {{ ref('stg_samples') }}
    where not is_readable
    union all
    -- lines without a key are among the samples
    select
        run_id,
        'inputs' as file_kind,
        1 as line_count
    from {{ ref('stg_inputs') }}
    where not is_readable
        and task_index is not null
        and rollout_index is not null
    union all
    select
        run_id,
        'failures' as file_kind,
        1 as line_count
    from {{ ref('stg_failures') }}
    where not is_readable
    union all
    select
        run_id,
        'verdicts' as file_kind,
        line_count
    from {{ ref('stg_verdicts') }}
    where not is_readable
),

counted as (
    select
        run_id,
        file_kind,
        cast(sum(line_count) as bigint) as line_count
    from unreadable
    group by
        run_id,
        file_kind
),

-- a last line that a crash cut short is already known, and counts as not collected
unexplained as (
    select
        counted.run_id,
        counted.file_kind,
        counted.line_count
    from counted
    inner join {{ ref('stg_runs') }} as runs using (run_id)
    where counted.file_kind in ('inputs', 'verdicts')
        or (
            counted.file_kind = 'rollouts'
            and counted.line_count > runs.torn_rollouts_count
        )
        or (
            counted.file_kind = 'failures'
            and counted.line_count > runs.torn_failures_count
        )
)

select * from unexplained
