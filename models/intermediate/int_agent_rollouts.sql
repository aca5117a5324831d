with

rollouts as (
    select
        run_id,
        agent_name,
        count(*) as expected_rollout_count,
        count(case when is_completed then 1 end) as completed_rollout_count,
        count(case when is_completed and not is_scored then 1 end)
            as unscored_rollout_count,
        count(case when is_completed and failed_attempt_count = 0 then 1 end)
            as clean_rollout_count,
        count(case when is_completed and failed_attempt_count > 0 then 1 end)
            as recovered_rollout_count,
        count(case when not is_completed and failed_attempt_count > 0 then 1 end)
            as lost_rollout_count
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
        coalesce(rollouts.expected_rollout_count, 0) as expected_rollout_count,
        coalesce(rollouts.completed_rollout_count, 0) as completed_rollout_count,
        coalesce(rollouts.unscored_rollout_count, 0) as unscored_rollout_count,
        coalesce(rollouts.clean_rollout_count, 0) as clean_rollout_count,
        coalesce(rollouts.recovered_rollout_count, 0) as recovered_rollout_count,
        coalesce(rollouts.lost_rollout_count, 0) as lost_rollout_count,
        coalesce(failures.failed_attempt_count, 0) as failed_attempt_count
    from rollouts
    full outer join failures
        on rollouts.run_id = failures.run_id
        and rollouts.agent_name = failures.agent_name
)

select * from agents
