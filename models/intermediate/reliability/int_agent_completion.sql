with

-- Missing rollouts that count as a reward of 0, by the class of the last failure or for
-- lack of any failure. A failure with a reward counts with it, as in NeMo Gym.
expected as (
    select
        rollouts.*,
        not rollouts.is_completed
        and case
            when rollouts.last_failure_class is null then runs.is_missing_zero
            else list_contains(runs.zero_classes, rollouts.last_failure_class)
                or coalesce(
                    list_contains(runs.zero_classes, rollouts.last_given_class), false
                )
        end as is_zero
    from {{ ref('int_expected_rollouts') }} as rollouts
    inner join {{ ref('stg_runs') }} as runs using (run_id)
),

rollouts as (
    select
        run_id,
        agent_name,
        count(*) as expected_rollout_count,
        count(case when is_completed then 1 end) as completed_rollout_count,
        count(case when is_completed and not is_measured then 1 end)
            as masked_rollout_count,
        count(case when is_measured and not is_scored then 1 end)
            as unscored_rollout_count,
        count(case when is_measured and failed_attempt_count = 0 then 1 end)
            as clean_rollout_count,
        count(case when is_measured and failed_attempt_count > 0 then 1 end)
            as recovered_rollout_count,
        count(case when is_zero then 1 end) as zero_rollout_count,
        sum(
            case when is_zero then last_failure_reward end
            order by task_index, rollout_index
        ) as zero_reward_sum,
        count(case when not is_completed and failed_attempt_count > 0 then 1 end)
            as lost_rollout_count
    from expected
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
