with

-- the interval of the verdict, also for the worst and the best case of unknown rollouts
intervals as (
    select
        intervals.group_key,
        pairs.alpha,
        coalesce(pairs.margin, 0.01e0 * intervals.value_range) as margin,
        case when pairs.is_fixed_suite then intervals.fixed_low else intervals.low end
            as low,
        case when pairs.is_fixed_suite then intervals.fixed_high else intervals.high end
            as high,
        case when pairs.is_fixed_suite then tests.fixed_p_value else tests.p_value end
            as p_value,
        coalesce(bounds.unknown_count, 0) as unknown_count,
        bounds.difference_lowest - coalesce(
            case
                when pairs.is_fixed_suite then intervals.z * intervals.fixed_std_error
                else quantiles.quantile * bounds.lowest_std_error
            end, 0
        ) as lowest_low,
        bounds.difference_highest + coalesce(
            case
                when pairs.is_fixed_suite then intervals.z * intervals.fixed_std_error
                else quantiles.quantile * bounds.highest_std_error
            end, 0
        ) as highest_high,
        case when not pairs.is_forced then coverage.obstacle end as obstacle
    from {{ ref('int_difference_intervals') }} as intervals
    inner join {{ ref('int_difference_tests') }} as tests using (group_key)
    inner join {{ ref('int_compared_runs') }} as pairs
        on intervals.pair_key = pairs.pair_key
    inner join {{ ref('int_compared_coverage') }} as coverage
        on intervals.pair_key = coverage.pair_key
    left join {{ ref('int_slice_bounds') }} as bounds using (group_key)
    left join {{ ref('int_t_quantiles') }} as quantiles
        on pairs.alpha = quantiles.alpha and bounds.task_count - 1 = quantiles.degrees
),

-- a difference that is real but smaller than the margin is equivalence
judged as (
    select
        *,
        case
            when low > -margin and high < margin then 'equivalent'
            when low > 0 and p_value < alpha then 'better'
            when high < 0 and p_value < alpha then 'worse'
            else 'inconclusive'
        end as observed_verdict
    from intervals
),

verdicts as (
    select
        *,
        case
            when obstacle is not null then 'not comparable'
            when unknown_count = 0 then observed_verdict
            when observed_verdict = 'better' and lowest_low > 0 then 'better'
            when observed_verdict = 'worse' and highest_high < 0 then 'worse'
            when observed_verdict = 'equivalent'
                and lowest_low > -margin and highest_high < margin
                then 'equivalent'
            else 'inconclusive'
        end as verdict
    from judged
)

select * from verdicts
