with

rewards as (
    select
        run_id,
        agent_name,
        value_mean,
        value_count,
        value_mean * value_count as value_sum,
        least(value_min, 0) as value_min,
        greatest(value_max, 1) as value_max
    from {{ ref('agent_metrics') }}
    where metric = 'reward'
        and run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
),

-- an agent without any reward could have had rewards anywhere from 0 to 1
agents as (
    select
        agents.*,
        agents.expected_rollout_count - agents.completed_rollout_count as missing_count,
        missing_count + agents.masked_rollout_count + agents.unscored_rollout_count
            as unknown_count,
        nullif(agents.expected_rollout_count, 0) as divisor,
        rewards.value_mean as reward_mean,
        coalesce(rewards.value_count, 0) + agents.zero_rollout_count as zeros_divisor,
        case when rewards.run_id is not null then rewards.value_sum else 0 end
            as reward_sum,
        coalesce(rewards.value_min, 0e0) as assumed_reward_min,
        coalesce(rewards.value_max, 1e0) as assumed_reward_max
    from {{ ref('int_agent_completion') }} as agents
    left join rewards using (run_id, agent_name)
),

reliability as (
    select
        run_id,
        agent_name,
        expected_task_count,
        expected_rollout_count,
        completed_rollout_count,
        missing_count as missing_rollout_count,
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
        missing_count - lost_rollout_count as unattempted_rollout_count,
        reward_mean,
        zero_rollout_count,
        case
            when zero_rollout_count > 0
                then {{ finite('(reward_sum + zero_reward_sum) / zeros_divisor') }}
        end as reward_mean_with_zeros,
        {{ finite('reward_sum / divisor') }} as reward_mean_failures_as_zero,
        {{ finite('(reward_sum + unknown_count * assumed_reward_min) / divisor') }}
            as reward_mean_lowest,
        {{ finite('(reward_sum + unknown_count * assumed_reward_max) / divisor') }}
            as reward_mean_highest,
        assumed_reward_min,
        assumed_reward_max
    from agents
)

select * from reliability
