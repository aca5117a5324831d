with

-- One-sided tasks matter for the bounds if the other run lost whole tasks. Two verdicts
-- on the same rollouts share their noise: the variance within tasks says nothing there.
tasks as (
    select
        tasks.*,
        pairs.is_same_rollouts
    from {{ ref('int_compared_tasks') }} as tasks
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    where tasks.is_common
        or (tasks.task_index is null and pairs.has_dropped_tasks)
        or (tasks.baseline_task_index is null and pairs.has_baseline_dropped_tasks)
),

scores as (
    select
        task_key,
        pair_key,
        'mean_reward' as score,
        reward_low as lowest,
        reward_high as highest,
        baseline_reward_mean as baseline_value,
        reward_mean as value,
        case
            when is_same_rollouts then null
            else {{ finite('baseline_reward_std * baseline_reward_std') }}
        end as baseline_variance,
        case
            when is_same_rollouts then null else {{ finite('reward_std * reward_std') }}
        end as variance,
        baseline_rollout_count,
        rollout_count,
        baseline_unknown_count,
        unknown_count
    from tasks
    union all
    select
        task_key,
        pair_key,
        'pass_rate' as score,
        0e0 as lowest,
        1e0 as highest,
        1e0 * baseline_pass_count / nullif(baseline_rollout_count, 0) as baseline_value,
        1e0 * pass_count / nullif(rollout_count, 0) as value,
        case
            when is_same_rollouts then null
            else {{ pass_variance('baseline_pass_count', 'baseline_rollout_count') }}
        end as baseline_variance,
        case
            when is_same_rollouts then null
            else {{ pass_variance('pass_count', 'rollout_count') }}
        end as variance,
        baseline_rollout_count,
        rollout_count,
        baseline_unknown_count,
        unknown_count
    from tasks
)

select * from scores
