with

bounded as (
    select
        intervals.group_key,
        pairs.is_fixed_suite,
        intervals.difference,
        intervals.low,
        intervals.high,
        intervals.fixed_width,
        bounds.difference_lowest,
        bounds.difference_highest,
        quantiles.quantile * bounds.lowest_std_error as lowest_width,
        quantiles.quantile * bounds.highest_std_error as highest_width
    from {{ ref('int_slice_bounds') }} as bounds
    inner join {{ ref('int_difference_intervals') }} as intervals using (group_key)
    inner join {{ ref('int_compared_runs') }} as pairs
        on intervals.pair_key = pairs.pair_key
    left join {{ ref('int_t_quantiles') }} as quantiles
        on pairs.alpha = quantiles.alpha and bounds.task_count - 1 = quantiles.degrees
),

-- the intervals of the worst and the best case are never narrower than the one seen
extremes as (
    select
        group_key,
        difference_lowest - case
            when is_fixed_suite then fixed_width
            else greatest(lowest_width, difference - low)
        end as lowest_low,
        difference_highest + case
            when is_fixed_suite then fixed_width
            else greatest(highest_width, high - difference)
        end as highest_high
    from bounded
)

select * from extremes
