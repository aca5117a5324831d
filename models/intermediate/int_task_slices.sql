with

-- what the input says; the first scored rollout only where the input says nothing
first_rollouts as (
    select
        run_id,
        agent_name,
        task_index,
        slice_values
    from {{ ref('int_scored_rollouts') }}
    where place = 1
),

inputs as (
    select
        run_id,
        task_index,
        slice_by,
        slice_value
    from (
        select
            run_id,
            task_index,
            {{ unnest_entries('slice_values') }}
        from {{ ref('stg_inputs') }}
        where slice_values is not null
    ) as kept
),

fields as (
    select
        run_id,
        agent_name,
        task_index,
        {{ unnest_entries('slice_values') }}
    from first_rollouts
),

slices as (
    select
        run_id,
        agent_name,
        task_index,
        'all' as slice_by,
        'all' as slice_value
    from first_rollouts
    union all
    select
        fields.run_id,
        fields.agent_name,
        fields.task_index,
        fields.slice_by,
        coalesce(inputs.slice_value, fields.slice_value, '(none)') as slice_value
    from fields
    left join inputs
        on fields.run_id = inputs.run_id
        and fields.task_index = inputs.task_index
        and fields.slice_by = inputs.slice_by
)

select * from slices
