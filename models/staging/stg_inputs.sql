{%- set indices = ['_ng_task_index', '_ng_rollout_index'] -%}
{%- set members = json_members('lines.line', indices + ['agent_ref']) -%}
with

runs as (
    select * from {{ ref('stg_runs') }}
),

-- one line per task is kept whole: the first that has a result
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
        lines.line,
        {{ json_integer(list_item(members, 1)) }} as task_index,
        {{ json_integer(list_item(members, 2)) }} as rollout_index,
        {{ list_item(members, 3) }} as agent_ref
    from {{ read_lines('inputs') }} as lines
    inner join runs on lines.file_path = runs.inputs_file
),

inputs as (
    select
        lines.run_id,
        lines.task_index,
        lines.rollout_index,
        {{ json_text_field('lines.agent_ref', 'name') }} as agent_name,
        case
            when first_completed.run_id is not null
                then {{ content_hash('lines.line') }}
        end as task_id,
        case
            when first_completed.run_id is not null
                then {{ json_without('lines.line', indices) }}
        end as sample,
        lines.task_index is not null
        and lines.rollout_index is not null
        and not {{ has_repeated_key('lines.line') }}
        and not {{ has_repeated_key('lines.agent_ref') }}
        and (first_completed.run_id is null or not {{ has_non_finite('lines.line') }})
            as is_readable
    from lines
    left join first_completed
        on lines.run_id = first_completed.run_id
        and lines.task_index = first_completed.task_index
        and lines.rollout_index = first_completed.rollout_index
)

select * from inputs
