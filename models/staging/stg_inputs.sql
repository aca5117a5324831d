with

runs as (
    select * from {{ ref('stg_runs') }}
),

-- one row per task is kept whole: the first that has a result
first_completed as (
    select
        run_id,
        task_index,
        min(rollout_index) as rollout_index
    from {{ ref('stg_rollouts') }}
    where is_readable
    group by
        run_id,
        task_index
),

lines as (
    select
        runs.run_id,
        {{ json_integer(map_field('lines.fields', '_ng_task_index')) }}
            as task_index,
        {{ json_integer(map_field('lines.fields', '_ng_rollout_index')) }}
            as rollout_index,
        lines.fields
    from {{ read_rows('inputs') }} as lines
    inner join runs on lines.file_path = runs.inputs_file
),

inputs as (
    select
        lines.run_id,
        lines.task_index,
        lines.rollout_index,
        {{ json_text_field(map_field('lines.fields', 'agent_ref'), 'name') }}
            as agent_name,
        case
            when first_completed.run_id is not null
                then {{ json_without(
                    'lines.fields', ['_ng_task_index', '_ng_rollout_index']
                ) }}
        end as sample,
        case
            when first_completed.run_id is not null
                then {{ content_hash('lines.fields') }}
        end as task_id,
        lines.task_index is not null and lines.rollout_index is not null as has_key
    from lines
    left join first_completed
        on lines.run_id = first_completed.run_id
        and lines.task_index = first_completed.task_index
        and lines.rollout_index = first_completed.rollout_index
),

checked as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        task_id,
        sample,
        has_key and not {{ has_non_finite('sample') }} as is_readable
    from inputs
)

select * from checked
