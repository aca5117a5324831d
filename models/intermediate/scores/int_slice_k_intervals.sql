with

means as (
    select
        *,
        {{ list_mean('pass_at_k_values') }} as pass_at_k,
        {{ list_mean('pass_hat_k_values') }} as pass_hat_k
    from {{ ref('int_slice_k_means') }}
),

errors as (
    select
        means.*,
        {{ mean_std_error(
            'means.pass_at_k_values', 'means.pass_at_k',
            'means.pass_at_k_min', 'means.pass_at_k_max'
        ) }} as at_error,
        {{ mean_std_error(
            'means.pass_hat_k_values', 'means.pass_hat_k',
            'means.pass_hat_k_min', 'means.pass_hat_k_max'
        ) }} as hat_error,
        {{ t_quantile('quantiles.quantile', '(means.task_count - 1)') }} as t
    from means
    left join {{ ref('t_quantiles') }} as quantiles
        on means.task_count - 1 = quantiles.degrees_of_freedom
),

intervals as (
    select
        slice_key,
        k,
        pass_at_k,
        at_error as pass_at_k_std_error,
        {{ interval_bound(
            'pass_at_k', 'at_error', 'task_count', 'rollout_count', 't', 'true', '-'
        ) }} as pass_at_k_low,
        {{ interval_bound(
            'pass_at_k', 'at_error', 'task_count', 'rollout_count', 't', 'true', '+'
        ) }} as pass_at_k_high,
        pass_hat_k,
        hat_error as pass_hat_k_std_error,
        {{ interval_bound(
            'pass_hat_k', 'hat_error', 'task_count', 'rollout_count', 't', 'true', '-'
        ) }} as pass_hat_k_low,
        {{ interval_bound(
            'pass_hat_k', 'hat_error', 'task_count', 'rollout_count', 't', 'true', '+'
        ) }} as pass_hat_k_high
    from errors
)

select * from intervals
