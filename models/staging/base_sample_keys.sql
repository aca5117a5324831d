-- The inputs that are read whole. Of each task and agent: the first whose result is
-- measured, else the first with a result, which becomes the sample; and the first whose
-- result is scored, which has the slices.
with

inputs as (
    select * from {{ ref('stg_inputs') }}
    where is_readable
),

rollouts as (
    select * from {{ ref('stg_rollouts') }}
    where is_readable
),

results as (
    select
        run_id,
        task_index,
        rollout_index,
        coalesce(inputs.server_name, inputs.agent_name, rollouts.agent_name) as runner,
        rollouts.is_measured,
        rollouts.reward
    from inputs
    inner join rollouts using (run_id, task_index, rollout_index)
),

firsts as (
    select
        run_id,
        task_index,
        runner,
        min(rollout_index) as first_index,
        min(case when is_measured then rollout_index end) as first_measured_index,
        min(case when reward is not null then rollout_index end) as first_scored_index
    from results
    group by
        run_id,
        task_index,
        runner
),

keys as (
    select
        run_id,
        task_index,
        coalesce(first_measured_index, first_index) as rollout_index
    from firsts
    union all
    select
        run_id,
        task_index,
        first_scored_index as rollout_index
    from firsts
    where first_scored_index != first_measured_index
)

select * from keys
