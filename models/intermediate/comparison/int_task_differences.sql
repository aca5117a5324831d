with

-- one-sided tasks matter for the bounds if the other run lost whole tasks
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
        *,
        'mean_reward' as score,
        reward_low as lowest,
        reward_high as highest,
        baseline_reward_mean as baseline_value,
        reward_mean as value,
        {{ finite('baseline_reward_std * baseline_reward_std') }} as baseline_variance,
        {{ finite('reward_std * reward_std') }} as variance
    from tasks
    union all
    select
        *,
        'pass_rate' as score,
        0e0 as lowest,
        1e0 as highest,
        1e0 * baseline_pass_count / nullif(baseline_rollout_count, 0) as baseline_value,
        1e0 * pass_count / nullif(rollout_count, 0) as value,
        {{ pass_variance('baseline_pass_count', 'baseline_rollout_count') }}
            as baseline_variance,
        {{ pass_variance('pass_count', 'rollout_count') }} as variance
    from tasks
),

-- each mean if all of its unknown rollouts had the lowest or the highest value
bounded as (
    select
        *,
        {{ filled_mean(
            'baseline_value', 'baseline_rollout_count',
            'baseline_unknown_count', 'lowest'
        ) }}
            as baseline_lowest,
        {{ filled_mean(
            'baseline_value', 'baseline_rollout_count',
            'baseline_unknown_count', 'highest'
        ) }}
            as baseline_highest,
        {{ filled_mean('value', 'rollout_count', 'unknown_count', 'lowest') }}
            as value_lowest,
        {{ filled_mean('value', 'rollout_count', 'unknown_count', 'highest') }}
            as value_highest
    from scores
),

-- Rewards may be so large that what is between them overflows. Two verdicts on the same
-- rollouts share their noise: the variance within tasks says nothing there.
differences as (
    select
        pair_key,
        score,
        task_id,
        occurrence,
        least(highest - lowest, 1e308) as value_range,
        baseline_value,
        value,
        {{ finite('value - baseline_value') }} as difference,
        {{ finite('value_lowest - baseline_highest') }} as difference_lowest,
        {{ finite('value_highest - baseline_lowest') }} as difference_highest,
        case when is_same_rollouts then null else baseline_variance end
            as baseline_variance,
        case when is_same_rollouts then null else variance end as variance,
        baseline_rollout_count,
        rollout_count,
        baseline_unknown_count + unknown_count as unknown_count,
        baseline_rollout_count = 1 and rollout_count = 1
        and baseline_value in (0, 1) and value in (0, 1) as is_binary
    from bounded
)

select * from differences
