with

groups as (
    select
        groups.*,
        pairs.alpha,
        clusters.cluster_count,
        case
            when clusters.cluster_count is null then groups.std_error
            else clusters.cluster_std_error
        end as task_std_error,
        noises.fixed_std_error,
        noises.noise_floor,
        noises.within_variance,
        {{ upper_normal_quantile('(pairs.alpha / 2)') }} as z,
        cast(coalesce(clusters.cluster_count, groups.task_count) - 1 as double)
            as degrees
    from {{ ref('int_slice_differences') }} as groups
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    inner join {{ ref('int_slice_noises') }} as noises using (group_key)
    left join {{ ref('int_cluster_errors') }} as clusters using (group_key)
),

-- without any spread, few tasks at most can have a difference that was not seen
methods as (
    select
        groups.*,
        quantiles.quantile as t,
        groups.value_range * (1 - power(groups.alpha / 2, 1e0 / groups.task_count))
            as unseen_difference,
        case
            when groups.task_count < 2 or groups.cluster_count < 2 then null
            when groups.cluster_count >= 2 and groups.task_std_error > 0 then 'cluster'
            when groups.is_binary then 'newcombe'
            when groups.task_std_error > 0 then 't'
            else 'no_spread'
        end as interval_method
    from groups
    left join {{ ref('int_t_quantiles') }} as quantiles using (alpha, degrees)
),

intervals as (
    select
        *,
        case interval_method
            when 'newcombe' then {{ newcombe_bound('kept_count', 'lost_count', 'gained_count', 'task_count', 'z', '-') }}
            when 'no_spread' then difference - unseen_difference
            else difference - t * task_std_error
        end as low,
        case interval_method
            when 'newcombe' then {{ newcombe_bound('kept_count', 'lost_count', 'gained_count', 'task_count', 'z', '+') }}
            when 'no_spread' then difference + unseen_difference
            else difference + t * task_std_error
        end as high,
        difference - z * fixed_std_error as fixed_low,
        difference + z * fixed_std_error as fixed_high
    from methods
)

select * from intervals
