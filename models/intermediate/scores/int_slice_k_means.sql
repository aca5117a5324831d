-- over the tasks that have at least k scored rollouts
with

-- a sum of doubles depends on its order: each group is a list in the order of tasks
grouped as (
    select
        slices.slice_key,
        estimates.has_answers,
        estimates.k,
        count(*) as task_count,
        cast(sum(estimates.rollout_count) as bigint) as rollout_count,
        min(estimates.pass_at_k) as pass_at_k_min,
        max(estimates.pass_at_k) as pass_at_k_max,
        min(estimates.pass_hat_k) as pass_hat_k_min,
        max(estimates.pass_hat_k) as pass_hat_k_max,
        {{ values_in_order(record([
            'pass_at_k', 'pass_hat_k', 'reward', 'lacks_answer', 'majority', 'gym_pass',
            'lacking_chance'
        ]), ['estimates.task_key']) }} as tasks
    from {{ ref('int_task_k_estimates') }} as estimates
    inner join {{ ref('int_task_slices') }} as slices using (task_key)
    group by
        slices.slice_key,
        estimates.has_answers,
        estimates.k
),

means as (
    select
        slice_key,
        has_answers,
        k,
        lead(k) over (partition by slice_key order by k) is null as is_headline,
        task_count,
        rollout_count,
        {{ list_map('tasks', 'task', 'task.pass_at_k') }} as pass_at_k_values,
        pass_at_k_min,
        pass_at_k_max,
        {{ list_map('tasks', 'task', 'task.pass_hat_k') }} as pass_hat_k_values,
        pass_hat_k_min,
        pass_hat_k_max,
        {{ list_mean(list_map('tasks', 'task', 'task.reward')) }} as reward,
        {{ list_mean(list_map('tasks', 'task', 'task.lacks_answer')) }} as lacks_answer,
        {{ list_mean(list_map('tasks', 'task', 'task.majority')) }} as majority,
        {{ list_mean(list_map('tasks', 'task', 'task.gym_pass')) }} as gym_pass,
        {{ list_mean(list_map('tasks', 'task', 'task.lacking_chance')) }}
            as lacking_chance
    from grouped
)

select * from means
