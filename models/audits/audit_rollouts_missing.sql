with

runs as (
    select * from {{ ref('stg_runs') }}
),

inputs as (
    select * from {{ ref('stg_inputs') }}
),

rollouts as (
    select * from {{ ref('stg_rollouts') }}
),

missing as (
    select distinct
        inputs.run_id,
        inputs.task_index,
        inputs.rollout_index
    from inputs
    inner join runs using (run_id)
    left join rollouts using (run_id, task_index, rollout_index)
    where not runs.is_partial_allowed
        and inputs.task_index is not null
        and rollouts.run_id is null
)

select * from missing
