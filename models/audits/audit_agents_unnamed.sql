with

inputs as (
    select * from {{ ref('stg_inputs') }}
),

rollouts as (
    select * from {{ ref('stg_rollouts') }}
),

unnamed as (
    select
        rollouts.run_id,
        rollouts.task_index,
        rollouts.rollout_index
    from rollouts
    inner join inputs using (run_id, task_index, rollout_index)
    where coalesce(inputs.server_name, inputs.agent_name, rollouts.agent_name) is null
)

select * from unnamed
