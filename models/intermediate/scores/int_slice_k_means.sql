-- Over the tasks of a slice with at least k scored rollouts. Where a task has fewer,
-- NeMo Gym takes all it has: for it, the sums over tasks with k rollouts stand beside.
{%- set order = ['task_index'] %}
with

estimates as (
    select
        *,
        case when is_last then reward_average end as last_reward_average,
        case when is_last then reward_deviation end as last_reward_deviation,
        case when is_last then lacking_average end as last_lacking_average,
        case when is_last then lacking_deviation end as last_lacking_deviation,
        case when is_last then gym_majority end as last_gym_majority
    from {{ ref('int_task_k_estimates') }}
),

sliced as (
    select
        slices.slice_by,
        slices.slice_value,
        estimates.*
    from estimates
    inner join {{ ref('int_task_slices') }} as slices
        using (run_id, agent_name, task_index)
),

means as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        k,
        has_answers,
        count(*) as task_count,
        count(case when is_last then 1 end) as last_task_count,
        cast(sum(rollout_count) as bigint) as rollout_count,
        {{ mean_in_order('pass_at_k', order) }} as pass_at_k,
        {{ error_in_order('pass_at_k', order) }} as pass_at_k_std_error,
        {{ mean_in_order('pass_hat_k', order) }} as pass_hat_k,
        {{ error_in_order('pass_hat_k', order) }} as pass_hat_k_std_error,
        {{ mean_in_order('reward', order) }} as reward,
        {{ mean_in_order('lacks_answer', order) }} as lacks_answer,
        {{ mean_in_order('majority', order) }} as majority,
        {{ mean_in_order('gym_pass', order) }} as gym_pass,
        {{ mean_in_order('lacking_chance', order) }} as lacking_chance,
        {{ sum_in_order('reward_average', order) }} as reward_average_sum,
        {{ sum_in_order('reward_deviation', order) }} as reward_deviation_sum,
        {{ sum_in_order('lacking_average', order) }} as lacking_average_sum,
        {{ sum_in_order('lacking_deviation', order) }} as lacking_deviation_sum,
        {{ sum_in_order('gym_majority', order) }} as gym_majority_sum,
        {{ sum_in_order('last_reward_average', order) }} as last_reward_average_sum,
        {{ sum_in_order('last_reward_deviation', order) }} as last_reward_deviation_sum,
        {{ sum_in_order('last_lacking_average', order) }} as last_lacking_average_sum,
        {{ sum_in_order('last_lacking_deviation', order) }}
            as last_lacking_deviation_sum,
        {{ sum_in_order('last_gym_majority', order) }} as last_gym_majority_sum
    from sliced
    group by
        run_id,
        agent_name,
        slice_by,
        slice_value,
        k,
        has_answers
)

select * from means
