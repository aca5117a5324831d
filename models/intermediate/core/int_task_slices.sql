with

first_rollouts as (
    select
        scored.run_id,
        scored.agent_name,
        scored.task_index,
        scored.slice_values,
        samples.slice_values as input_slice_values
    from {{ ref('int_scored_rollouts') }} as scored
    inner join {{ ref('stg_samples') }} as samples
        using (run_id, task_index, rollout_index)
    where scored.place = 1
),

input_fields as (
    select
        run_id,
        agent_name,
        task_index,
        {{ rows_of('input_slice_values') }}
    from first_rollouts
),

rollout_fields as (
    select
        run_id,
        agent_name,
        task_index,
        {{ rows_of('slice_values') }}
    from first_rollouts
),

-- the value of the input, or else of the rollout
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
        run_id,
        agent_name,
        task_index,
        slice_by,
        coalesce(input_fields.slice_value, rollout_fields.slice_value, '(none)')
            as slice_value
    from rollout_fields
    left join input_fields using (run_id, agent_name, task_index, slice_by)
)

select * from slices
