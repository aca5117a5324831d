with

rollouts as (
    select * from {{ ref('stg_rollouts') }}
),

inputs as (
    select * from {{ ref('stg_inputs') }}
),

unexpected as (
    select distinct
        rollouts.run_id,
        rollouts.task_index,
        rollouts.rollout_index
    from rollouts
    left join inputs
        on rollouts.run_id = inputs.run_id
        and rollouts.task_index = inputs.task_index
        and rollouts.rollout_index = inputs.rollout_index
    where rollouts.is_readable
        and inputs.run_id is null
)

select * from unexpected
