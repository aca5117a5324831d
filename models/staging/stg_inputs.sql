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
        lines.line,
        {{ json_members(
            'lines.line', ['_ng_task_index', '_ng_rollout_index', 'agent_ref']
        ) }} as members
    from {{ read_lines('inputs') }} as lines
    inner join runs on lines.file_path = runs.inputs_file
),

keyed as (
    select
        run_id,
        line,
        {{ json_integer(list_item('members', 1)) }} as task_index,
        {{ json_integer(list_item('members', 2)) }} as rollout_index,
        {{ json_text_field(list_item('members', 3), 'name') }} as agent_name
    from lines
),

inputs as (
    select
        keyed.run_id,
        keyed.task_index,
        keyed.rollout_index,
        keyed.agent_name,
        case
            when first_completed.run_id is not null
                then {{ json_without(
                    'keyed.line', ['_ng_task_index', '_ng_rollout_index']
                ) }}
        end as sample,
        case
            when first_completed.run_id is not null
                then {{ content_hash('keyed.line') }}
        end as task_id,
        keyed.task_index is not null
        and keyed.rollout_index is not null
        and not {{ has_repeated_key('keyed.line') }} as is_unambiguous
    from keyed
    left join first_completed
        on keyed.run_id = first_completed.run_id
        and keyed.task_index = first_completed.task_index
        and keyed.rollout_index = first_completed.rollout_index
),

checked as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        task_id,
        sample,
        is_unambiguous and not {{ has_non_finite('sample') }} as is_readable
    from inputs
)

select * from checked
