with

lines as (
    select * from {{ ref('base_verdicts') }}
),

-- a rollout of several stages has a verdict for each: the worst counts
collected as (
    select
        run_id,
        task_index,
        rollout_index,
        count(*) as line_count,
        max_by(
            verdict,
            case verdict when 'unhealthy' then 2 when 'unobserved' then 1 else 0 end
        ) as verdict
    from lines
    group by
        run_id,
        task_index,
        rollout_index
),

findings as (
    select
        run_id,
        task_index,
        rollout_index,
        {{ rows_of('checks') }}
    from lines
),

distinct_findings as (
    select
        run_id,
        task_index,
        rollout_index,
        check_name
    from findings
    group by
        run_id,
        task_index,
        rollout_index,
        check_name
),

listed as (
    select
        run_id,
        task_index,
        rollout_index,
        {{ text_in_order('check_name', ['check_name'], ', ') }} as checks
    from distinct_findings
    group by
        run_id,
        task_index,
        rollout_index
),

verdicts as (
    select
        run_id,
        task_index,
        rollout_index,
        collected.line_count,
        collected.verdict,
        listed.checks,
        task_index is not null and rollout_index is not null as is_readable
    from collected
    left join listed using (run_id, task_index, rollout_index)
)

select * from verdicts
