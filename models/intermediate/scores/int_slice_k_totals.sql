with

-- a sum of doubles depends on its order: each group is a list in the order of tasks
grouped as (
    select
        slices.slice_key,
        estimates.has_answers,
        estimates.k,
        count(*) as task_count,
        cast(sum(estimates.rollout_count) as bigint) as rollout_count,
        count(case when estimates.is_last then 1 end) as last_count,
        min(estimates.pass_at_k) as pass_at_k_min,
        max(estimates.pass_at_k) as pass_at_k_max,
        min(estimates.pass_hat_k) as pass_hat_k_min,
        max(estimates.pass_hat_k) as pass_hat_k_max,
        {{ values_in_order(record([
            'is_last', 'pass_at_k', 'pass_hat_k', 'reward', 'lacks_answer', 'majority',
            'gym_pass', 'lacking_chance', 'reward_average', 'reward_deviation',
            'lacking_average', 'lacking_deviation', 'gym_majority'
        ]), ['estimates.task_key']) }} as tasks
    from {{ ref('int_task_k_estimates') }} as estimates
    inner join {{ ref('int_task_slices') }} as slices using (task_key)
    group by
        slices.slice_key,
        estimates.has_answers,
        estimates.k
),

-- the tasks that have no more rollouts than k
parted as (
    select
        *,
        {{ list_where('tasks', 'task', 'task.is_last') }} as last_tasks
    from grouped
),

summed as (
    select
        *,
        {{ list_sum(list_map('tasks', 'task', 'task.reward')) }} as reward_sum,
        {{ list_sum(list_map('tasks', 'task', 'task.lacks_answer')) }}
            as lacks_answer_sum,
        {{ list_sum(list_map('tasks', 'task', 'task.majority')) }} as majority_sum,
        {{ list_sum(list_map('tasks', 'task', 'task.gym_pass')) }} as gym_pass_sum,
        {{ list_sum(list_map('tasks', 'task', 'task.lacking_chance')) }}
            as lacking_chance_sum,
        {{ list_sum(list_map('tasks', 'task', 'task.reward_average')) }}
            as reward_average_sum,
        {{ list_sum(list_map('tasks', 'task', 'task.reward_deviation')) }}
            as reward_deviation_sum,
        {{ list_sum(list_map('tasks', 'task', 'task.lacking_average')) }}
            as lacking_average_sum,
        {{ list_sum(list_map('tasks', 'task', 'task.lacking_deviation')) }}
            as lacking_deviation_sum,
        {{ list_sum(list_map('tasks', 'task', 'task.gym_majority')) }}
            as gym_majority_sum,
        {{ list_sum(list_map('last_tasks', 'task', 'task.reward_average')) }}
            as reward_average_last,
        {{ list_sum(list_map('last_tasks', 'task', 'task.reward_deviation')) }}
            as reward_deviation_last,
        {{ list_sum(list_map('last_tasks', 'task', 'task.lacking_average')) }}
            as lacking_average_last,
        {{ list_sum(list_map('last_tasks', 'task', 'task.lacking_deviation')) }}
            as lacking_deviation_last,
        {{ list_sum(list_map('last_tasks', 'task', 'task.gym_majority')) }}
            as gym_majority_last
    from parted
),

-- where a task has fewer than k rollouts, NeMo Gym takes all it has: its last figure
-- counts for larger k too
totals as (
    select
        slice_key,
        has_answers,
        k,
        task_count,
        rollout_count,
        task_count + cast(coalesce(sum(last_count) over smaller_k, 0) as bigint)
            as all_task_count,
        first_value(last_count) over all_k as single_task_count,
        lead(k) over all_k is null as is_headline,
        {{ list_map('tasks', 'task', 'task.pass_at_k') }} as pass_at_k_values,
        pass_at_k_min,
        pass_at_k_max,
        {{ list_map('tasks', 'task', 'task.pass_hat_k') }} as pass_hat_k_values,
        pass_hat_k_min,
        pass_hat_k_max,
        reward_sum,
        lacks_answer_sum,
        majority_sum,
        gym_pass_sum,
        lacking_chance_sum,
        reward_average_sum + coalesce(sum(reward_average_last) over smaller_k, 0)
            as reward_average_sum,
        reward_deviation_sum + coalesce(sum(reward_deviation_last) over smaller_k, 0)
            as reward_deviation_sum,
        lacking_average_sum + coalesce(sum(lacking_average_last) over smaller_k, 0)
            as lacking_average_sum,
        lacking_deviation_sum + coalesce(sum(lacking_deviation_last) over smaller_k, 0)
            as lacking_deviation_sum,
        gym_majority_sum + coalesce(sum(gym_majority_last) over smaller_k, 0)
            as gym_majority_sum
    from summed
    window
        all_k as (partition by slice_key order by k),
        smaller_k as (
            partition by slice_key order by k
            rows between unbounded preceding and 1 preceding
        )
)

select * from totals
