-- the inputs that are kept whole: one line per task and agent, the first whose result
-- is measured, else the first with a result
with

results as (
    select
        keys.run_id,
        keys.task_index,
        keys.rollout_index,
        coalesce(keys.runner, rollouts.agent_name) as runner,
        rollouts.is_measured
    from {{ ref('base_input_keys') }} as keys
    inner join {{ ref('stg_rollouts') }} as rollouts
        using (run_id, task_index, rollout_index)
    where rollouts.is_readable
),

samples as (
    select
        run_id,
        task_index,
        coalesce(
            min(case when is_measured then rollout_index end), min(rollout_index)
        ) as rollout_index
    from results
    group by
        run_id,
        task_index,
        runner
)

select * from samples
