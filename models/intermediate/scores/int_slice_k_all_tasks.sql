-- where a task has fewer than k rollouts, NeMo Gym takes all it has: its last figure
-- counts for larger k too
with

-- a sum of doubles depends on its order: each group is a list in the order of tasks
grouped as (
    select
        slices.slice_key,
        estimates.k,
        count(*) as task_count,
        count(case when estimates.is_last then 1 end) as last_count,
        {{ values_in_order(record([
            'is_last', 'reward_average', 'reward_deviation', 'lacking_average',
            'lacking_deviation', 'gym_majority'
        ]), ['estimates.task_key']) }} as tasks
    from {{ ref('int_task_k_estimates') }} as estimates
    inner join {{ ref('int_task_slices') }} as slices using (task_key)
    group by
        slices.slice_key,
        estimates.k
),

summed as (
    select
        slice_key,
        k,
        task_count + cast(coalesce(sum(last_count) over smaller, 0) as bigint)
            as task_count,
        first_value(last_count) over (partition by slice_key order by k)
            as single_task_count,
        {{ carried_sum('tasks', 'task.reward_average', 'task.is_last', 'smaller') }}
            as reward_average,
        {{ carried_sum('tasks', 'task.reward_deviation', 'task.is_last', 'smaller') }}
            as reward_deviation,
        {{ carried_sum('tasks', 'task.lacking_average', 'task.is_last', 'smaller') }}
            as lacking_average,
        {{ carried_sum('tasks', 'task.lacking_deviation', 'task.is_last', 'smaller') }}
            as lacking_deviation,
        {{ carried_sum('tasks', 'task.gym_majority', 'task.is_last', 'smaller') }}
            as gym_majority
    from grouped
    window smaller as (
        partition by slice_key order by k
        rows between unbounded preceding and 1 preceding
    )
),

-- a task with one rollout has no deviation
means as (
    select
        slice_key,
        k,
        task_count,
        reward_average / task_count as reward_average,
        lacking_average / task_count as lacking_average,
        gym_majority / task_count as gym_majority,
        case when k > 1 then nullif(task_count - single_task_count, 0) end
            as repeated_task_count,
        reward_deviation / repeated_task_count as reward_deviation,
        lacking_deviation / repeated_task_count as lacking_deviation
    from summed
)

select * from means
