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
            as rollout_index
    from {{ read_rows('failures') }} as lines
    inner join runs on lines.file_path = runs.failures_file
),

failures as (
    select
        run_id,
        task_index,
        rollout_index,
        task_index is not null and rollout_index is not null as is_readable
    from lines
)

select * from failures
