with

-- a failure that counts as zero but has a reward counts with it, as in NeMo Gym
rollouts as (
    select
        run_id,
        agent_name,
        count(distinct task_index) as expected_task_count,
        count(*) as expected_rollout_count,
        count(case when is_completed then 1 end) as completed_rollout_count,
        count(case when is_masked then 1 end) as masked_rollout_count,
        count(case when is_measured and not is_scored then 1 end)
            as unscored_rollout_count,
        count(case when is_measured and failed_attempt_count = 0 then 1 end)
            as clean_rollout_count,
        count(case when is_measured and failed_attempt_count > 0 then 1 end)
            as recovered_rollout_count,
        count(case when not is_completed and failed_attempt_count > 0 then 1 end)
            as lost_rollout_count,
        count(case when is_zero then 1 end) as zero_rollout_count,
        {{ sum_in_order(
            'case when is_zero then last_failure_reward end',
            ['task_index', 'rollout_index']
        ) }} as zero_reward_sum
    from {{ ref('int_expected_rollouts') }}
    group by
        run_id,
        agent_name
),

failures as (
    select
        run_id,
        agent_name,
        count(*) as failed_attempt_count
    from {{ ref('int_failed_attempts') }}
    group by
        run_id,
        agent_name
),

agents as (
    select
        coalesce(rollouts.run_id, failures.run_id) as run_id,
        coalesce(rollouts.agent_name, failures.agent_name) as agent_name,
        coalesce(rollouts.expected_task_count, 0) as expected_task_count,
        coalesce(rollouts.expected_rollout_count, 0) as expected_rollout_count,
        coalesce(rollouts.completed_rollout_count, 0) as completed_rollout_count,
        coalesce(rollouts.masked_rollout_count, 0) as masked_rollout_count,
        coalesce(rollouts.unscored_rollout_count, 0) as unscored_rollout_count,
        coalesce(rollouts.zero_rollout_count, 0) as zero_rollout_count,
        coalesce(rollouts.zero_reward_sum, 0e0) as zero_reward_sum,
        coalesce(rollouts.clean_rollout_count, 0) as clean_rollout_count,
        coalesce(rollouts.recovered_rollout_count, 0) as recovered_rollout_count,
        coalesce(rollouts.lost_rollout_count, 0) as lost_rollout_count,
        coalesce(failures.failed_attempt_count, 0) as failed_attempt_count
    from rollouts
    full outer join failures using (run_id, agent_name)
)

select * from agents
