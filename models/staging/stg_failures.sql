with

runs as (
    select * from {{ ref('stg_runs') }}
),

lines as (
    select
        runs.run_id,
        {{ json_integer(map_field('lines.fields', '_ng_task_index')) }}
            as task_index,
        {{ json_integer(map_field('lines.fields', '_ng_rollout_index')) }}
            as rollout_index,
        {{ json_text_field(map_field('lines.fields', 'agent_ref'), 'name') }}
            as agent_name,
        {{ json_text(map_field('lines.fields', '_ng_failure_class')) }}
            as failure_class,
        {{ map_field('lines.fields', '_ng_failure_terminal') }} as is_terminal,
        {{ json_integer(map_field('lines.fields', '_ng_attempt_index')) }} as attempt
    from {{ read_rows('failures') }} as lines
    inner join runs on lines.file_path = runs.failures_file
),

failures as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        coalesce(nullif(failure_class, ''), '(unknown)') as failure_class,
        coalesce({{ entry_number('is_terminal') }} = 1, false) as is_terminal,
        coalesce(attempt, 0) as attempt,
        task_index is not null and rollout_index is not null as is_readable
    from lines
)

select * from failures
