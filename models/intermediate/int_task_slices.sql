with

-- what the input says; the first scored rollout only where the input says nothing
first_rollouts as (
    select
        tasks.run_id,
        tasks.agent_name,
        tasks.task_index,
        tasks.task_key,
        scored.slice_values
    from {{ ref('int_scored_rollouts') }} as scored
    inner join {{ ref('int_task_keys') }} as tasks
        on scored.task_key = tasks.task_key
    where scored.place = 1
),

inputs as (
    select
        run_id,
        task_index,
        {{ unnest_entries('slice_values') }}
    from {{ ref('stg_inputs') }}
    where slice_values is not null
),

fields as (
    select
        run_id,
        agent_name,
        task_index,
        task_key,
        {{ unnest_entries('slice_values') }}
    from first_rollouts
),

slices as (
    select
        run_id,
        agent_name,
        task_key,
        'all' as slice_by,
        'all' as slice_value
    from first_rollouts
    union all
    select
        fields.run_id,
        fields.agent_name,
        fields.task_key,
        fields.slice_by,
        coalesce(inputs.slice_value, fields.slice_value, '(none)') as slice_value
    from fields
    left join inputs
        on {{ same_key('fields', 'inputs', ['run_id', 'task_index', 'slice_by']) }}
),

-- one number for four columns: what follows groups and joins by it
keyed as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        task_key,
        dense_rank() over (
            order by run_id, agent_name, slice_by, slice_value
        ) as slice_key
    from slices
)

select * from keyed
