with

-- the interval and the test of the verdict
intervals as (
    select
        intervals.group_key,
        pairs.alpha,
        coalesce(pairs.margin, 0.01e0 * intervals.value_range) as margin,
        case when pairs.is_fixed_suite then intervals.fixed_low else intervals.low end
            as low,
        case when pairs.is_fixed_suite then intervals.fixed_high else intervals.high end
            as high,
        adjusted.p_value_holm,
        coalesce(bounds.unknown_count, 0) as unknown_count,
        extremes.lowest_low,
        extremes.highest_high,
        coverage.obstacle
    from {{ ref('int_difference_intervals') }} as intervals
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    inner join {{ ref('int_compared_coverage') }} as coverage using (pair_key)
    left join {{ ref('int_adjusted_tests') }} as adjusted using (group_key)
    left join {{ ref('int_slice_bounds') }} as bounds using (group_key)
    left join {{ ref('int_comparison_bounds') }} as extremes using (group_key)
),

-- a difference that is real but smaller than the margin is equivalence
judged as (
    select
        *,
        case
            when low > -margin and high < margin then 'equivalent'
            when low > 0 and p_value_holm < alpha then 'better'
            when high < 0 and p_value_holm < alpha then 'worse'
            else 'inconclusive'
        end as observed_verdict
    from intervals
),

survived as (
    select
        *,
        case
            when unknown_count = 0 then observed_verdict
            when observed_verdict = 'better' and lowest_low > 0 then 'better'
            when observed_verdict = 'worse' and highest_high < 0 then 'worse'
            when observed_verdict = 'equivalent'
                and lowest_low > -margin and highest_high < margin
                then 'equivalent'
            else 'inconclusive'
        end as verdict_anyway
    from judged
),

verdicts as (
    select
        *,
        case
            when obstacle is null then verdict_anyway else 'not comparable'
        end as verdict
    from survived
)

select * from verdicts
