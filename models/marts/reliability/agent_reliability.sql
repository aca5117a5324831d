with

agents as (
    select
        *,
        expected_rollout_count - completed_rollout_count as missing_rollout_count,
        expected_rollout_count - completed_rollout_count + masked_rollout_count
        + unscored_rollout_count as unknown_reward_count,
        nullif(expected_rollout_count, 0) as divisor
    from {{ ref('int_agent_completion') }}
),

rewards as (
    select
        run_id,
        agent_name,
        value_mean as reward_mean,
        value_count as reward_count,
        value_mean * value_count as reward_sum,
        least(value_min, 0) as reward_min,
        greatest(value_max, 1) as reward_max
    from {{ ref('agent_metrics') }}
    where metric = 'reward'
        and run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
),

-- an agent without any reward could have had rewards anywhere from 0 to 1
filled as (
    select
        agents.*,
        rewards.reward_mean,
        coalesce(rewards.reward_count, 0) as reward_count,
        case when rewards.run_id is not null then rewards.reward_sum else 0 end
            as reward_sum,
        coalesce(rewards.reward_min, 0e0) as assumed_reward_min,
        coalesce(rewards.reward_max, 1e0) as assumed_reward_max
    from agents
    left join rewards using (run_id, agent_name)
),

means as (
    select
        *,
        (reward_sum + zero_reward_sum) / nullif(reward_count + zero_rollout_count, 0)
            as reward_mean_with_zeros,
        reward_sum / divisor as reward_mean_failures_as_zero,
        (reward_sum + unknown_reward_count * assumed_reward_min) / divisor
            as reward_mean_lowest,
        (reward_sum + unknown_reward_count * assumed_reward_max) / divisor
            as reward_mean_highest
    from filled
),

reliability as (
    select
        run_id,
        agent_name,
        expected_rollout_count,
        completed_rollout_count,
        missing_rollout_count,
        completed_rollout_count - masked_rollout_count as measured_rollout_count,
        masked_rollout_count,
        unscored_rollout_count,
        failed_attempt_count,
        completed_rollout_count + failed_attempt_count as attempt_count,
        clean_rollout_count,
        clean_rollout_count / divisor as clean_ratio,
        100e0 * completed_rollout_count / divisor as completion_pct,
        recovered_rollout_count,
        lost_rollout_count,
        missing_rollout_count - lost_rollout_count as unattempted_rollout_count,
        reward_mean,
        zero_rollout_count,
        case when zero_rollout_count > 0 then {{ finite('reward_mean_with_zeros') }} end
            as reward_mean_with_zeros,
        {{ finite('reward_mean_failures_as_zero') }} as reward_mean_failures_as_zero,
        {{ finite('reward_mean_lowest') }} as reward_mean_lowest,
        {{ finite('reward_mean_highest') }} as reward_mean_highest,
        assumed_reward_min,
        assumed_reward_max
    from means
)

select * from reliability
