with

errors as (
    select
        means.*,
        pairs.alpha,
        coalesce(pairs.margin, 0.01e0 * means.value_range) as margin,
        pairs.is_fixed_suite,
        pairs.z,
        clusters.cluster_count,
        case
            when pairs.cluster_by is null then means.std_error
            else clusters.cluster_std_error
        end as task_std_error,
        case
            when pairs.cluster_by is null then means.task_count
            else coalesce(clusters.cluster_count, 0)
        end as unit_count,
        means.is_all_binary and pairs.cluster_by is null as is_newcombe,
        means.task_count between 2 and 29
        and not means.is_all_binary and pairs.cluster_by is null as is_permuted,
        1e0 * least(means.baseline_rollout_count, means.rollout_count)
            as smaller_rollout_count
    from {{ ref('int_mean_differences') }} as means
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    left join {{ ref('int_cluster_errors') }} as clusters
        using (pair_key, score, slice_by, slice_value)
),

needed as (
    select
        alpha,
        z,
        unit_count - 1 as degrees
    from errors
    union all
    select
        alpha,
        z,
        bounded_task_count - 1 as degrees
    from errors
),

{{ t_quantiles('needed') }},

-- Without any spread, only few tasks can have a difference that was not seen: with
-- the share s of them, n tasks would show none with the chance (1 - s)^n. The same
-- holds for rollouts that all agree within their tasks.
methods as (
    select
        errors.*,
        quantiles.quantile as t,
        bounded_quantiles.quantile as bounded_t,
        1 - power(errors.alpha / 2, 1e0 / nullif(errors.unit_count, 0)) as unseen_ratio,
        case
            when errors.fixed_std_error > 0 then errors.z * errors.fixed_std_error
            when errors.fixed_std_error = 0
                then errors.value_range
                    * (1 - power(errors.alpha / 2, 1 / errors.smaller_rollout_count))
        end as fixed_width,
        case
            when errors.unit_count < 2 or errors.task_std_error is null then null
            when errors.is_newcombe then 'newcombe'
            when errors.task_std_error = 0 then 'no_spread'
            when errors.cluster_count is not null then 'cluster'
            else 't'
        end as interval_method
    from errors
    left join quantiles
        on errors.alpha = quantiles.alpha and errors.unit_count - 1 = quantiles.degrees
    left join quantiles as bounded_quantiles
        on errors.alpha = bounded_quantiles.alpha
        and errors.bounded_task_count - 1 = bounded_quantiles.degrees
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
