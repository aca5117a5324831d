with

means as (
    select * from {{ ref('int_slice_k_means') }}
),

curves as (
    select
        slices.run_id,
        slices.agent_name,
        slices.slice_by,
        slices.slice_value,
        means.k,
        means.task_count,
        gym.all_task_count,
        shares.pass_at_k,
        shares.pass_at_k_std_error,
        shares.pass_at_k_low,
        shares.pass_at_k_high,
        shares.pass_hat_k,
        shares.pass_hat_k_std_error,
        shares.pass_hat_k_low,
        shares.pass_hat_k_high,
        {{ finite('orders.max_sum / means.task_count') }} as max_at_k,
        {{ finite('orders.min_sum / means.task_count') }} as min_at_k,
        {{ finite('means.majority') }} as majority_at_k,
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
        means.is_headline
    from means
    inner join {{ ref('int_slices') }} as slices using (slice_key)
    inner join {{ ref('int_slice_k_intervals') }} as shares using (slice_key, k)
    left join {{ ref('int_slice_k_extremes') }} as orders using (slice_key, k)
    inner join {{ ref('int_slice_k_gym') }} as gym using (slice_key, k)
)

select * from curves
