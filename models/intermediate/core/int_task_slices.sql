with

first_rollouts as (
    select
        tasks.*,
        scored.slice_values,
        inputs.slice_values as input_slice_values
    from {{ ref('int_scored_rollouts') }} as scored
    inner join {{ ref('int_task_keys') }} as tasks using (task_key)
    inner join {{ ref('stg_inputs') }} as inputs
        using (run_id, task_index, rollout_index)
    where scored.place = 1
),

inputs as (
    select
        task_key,
        {{ rows_of('input_slice_values') }}
    from first_rollouts
),

fields as (
    select
        run_id,
        agent_name,
        task_key,
        {{ rows_of('slice_values') }}
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
        -- the value of the input, or else of the rollout
        coalesce(inputs.slice_value, fields.slice_value, '(none)') as slice_value
    from fields
    left join inputs using (task_key, slice_by)
),

-- one number in place of four columns: later models group and join by it
keyed as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        task_key,
        dense_rank() over (order by run_id, agent_name, slice_by, slice_value)
            as slice_key
    from slices
)

select * from keyed
