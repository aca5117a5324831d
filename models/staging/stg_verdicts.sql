with

runs as (
    select * from {{ ref('stg_runs') }}
),

lines as (
    select
        runs.run_id,
        {{ json_integer(map_field('lines.fields', '_ng_task_index')) }} as task_index,
        {{ json_integer(map_field('lines.fields', '_ng_rollout_index')) }}
            as rollout_index,
        {{ json_text(map_field('lines.fields', 'verdict')) }} as verdict,
        {{ check_names(map_field('lines.fields', 'findings')) }} as checks
    from {{ read_rows('verdicts') }} as lines
    inner join runs on lines.file_path = runs.verdicts_file
),

-- a rollout of several stages has a verdict for each: the worst counts
verdicts as (
    select
        run_id,
        task_index,
        rollout_index,
        max_by(
            verdict,
            case verdict when 'unhealthy' then 2 when 'unobserved' then 1 else 0 end
        ) as verdict,
        {{ text_in_order('checks', ['checks']) }} as checks
    from lines
    where task_index is not null and rollout_index is not null
    group by
        run_id,
        task_index,
        rollout_index
)

select * from verdicts
