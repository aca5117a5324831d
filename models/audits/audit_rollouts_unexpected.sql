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
    left join inputs using (run_id, task_index, rollout_index)
    where rollouts.is_readable
        and inputs.run_id is null
)

select * from unexpected
