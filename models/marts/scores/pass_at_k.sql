with

means as (
    select
        means.*,
        lead(means.k) over (
            partition by
                means.run_id, means.agent_name, means.slice_by, means.slice_value
            order by means.k
        ) is null as is_headline,
        {{ t_quantile('quantiles.quantile', '(means.task_count - 1)') }} as t
    from {{ ref('int_slice_k_means') }} as means
    left join {{ ref('t_quantiles') }} as quantiles
        on means.task_count - 1 = quantiles.degrees_of_freedom
),

-- intervals over tasks; both figures are shares
bounded as (
    select
        *,
        {{ interval_bound(
            'pass_at_k', 'pass_at_k_std_error', 'task_count', 'rollout_count',
            't', 'true', '-'
        ) }} as pass_at_k_low,
        {{ interval_bound(
            'pass_at_k', 'pass_at_k_std_error', 'task_count', 'rollout_count',
            't', 'true', '+'
        ) }} as pass_at_k_high,
        {{ interval_bound(
            'pass_hat_k', 'pass_hat_k_std_error', 'task_count', 'rollout_count',
            't', 'true', '-'
        ) }} as pass_hat_k_low,
        {{ interval_bound(
            'pass_hat_k', 'pass_hat_k_std_error', 'task_count', 'rollout_count',
            't', 'true', '+'
        ) }} as pass_hat_k_high
    from means
),

curves as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        k,
        bounded.task_count,
        gym.all_task_count,
        bounded.pass_at_k,
        bounded.pass_at_k_std_error,
        bounded.pass_at_k_low,
        bounded.pass_at_k_high,
        bounded.pass_hat_k,
        bounded.pass_hat_k_std_error,
        bounded.pass_hat_k_low,
        bounded.pass_hat_k_high,
        {{ finite('extremes.max_sum / bounded.task_count') }} as max_at_k,
        {{ finite('extremes.min_sum / bounded.task_count') }} as min_at_k,
        bounded.majority as majority_at_k,
        gym.gym_pass_at_k,
        gym.gym_avg_of_k,
        gym.gym_majority_at_k,
        gym.gym_run_average,
        gym.gym_std_dev_across_runs,
        gym.gym_std_err_across_runs,
        gym.gym_avg_sample_std_dev,
        gym.gym_no_answer_pass_at_k,
        gym.gym_no_answer_avg_of_k,
        gym.gym_no_answer_majority_at_k,
        gym.gym_no_answer_run_average,
        gym.gym_no_answer_std_dev_across_runs,
        gym.gym_no_answer_std_err_across_runs,
        gym.gym_no_answer_avg_sample_std_dev,
        bounded.is_headline
    from bounded
    left join {{ ref('int_slice_k_extremes') }} as extremes
        using (run_id, agent_name, slice_by, slice_value, k)
    inner join {{ ref('int_slice_k_gym') }} as gym
        using (run_id, agent_name, slice_by, slice_value, k)
)

select * from curves
