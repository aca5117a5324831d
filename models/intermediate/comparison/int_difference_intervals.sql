with

-- Without any spread, only few tasks can have a difference that was not seen: with
-- the share s of them, n tasks would show none with the chance (1 - s)^n. The same
-- holds for rollouts that all agree within their tasks.
methods as (
    select
        errors.*,
        quantiles.quantile as t,
        1 - power(errors.alpha / 2, 1e0 / nullif(errors.unit_count, 0)) as unseen_ratio,
        case
            when errors.fixed_std_error > 0 then errors.z * errors.fixed_std_error
            when errors.fixed_std_error = 0
                then errors.value_range
                    * (1 - power(errors.alpha / 2, 1 / errors.smaller_rollout_count))
        end as fixed_width,
        case
            when errors.unit_count < 2 or errors.task_std_error is null then null
            when errors.is_binary then 'newcombe'
            when errors.task_std_error = 0 then 'no_spread'
            when errors.cluster_count is not null then 'cluster'
            else 't'
        end as interval_method
    from {{ ref('int_difference_errors') }} as errors
    left join {{ ref('int_t_quantiles') }} as quantiles
        on errors.alpha = quantiles.alpha and errors.unit_count - 1 = quantiles.degrees
),

intervals as (
    select
        *,
        case interval_method
            when 'newcombe'
                then {{ newcombe_bound(
                    'kept_count', 'lost_count', 'gained_count', 'task_count', 'z', '-'
                ) }}
            when 'no_spread' then difference - unseen_ratio * (value_range + difference)
            else difference - t * task_std_error
        end as low,
        case interval_method
            when 'newcombe'
                then {{ newcombe_bound(
                    'kept_count', 'lost_count', 'gained_count', 'task_count', 'z', '+'
                ) }}
            when 'no_spread' then difference + unseen_ratio * (value_range - difference)
            else difference + t * task_std_error
        end as high,
        difference - fixed_width as fixed_low,
        difference + fixed_width as fixed_high
    from methods
)

select * from intervals
