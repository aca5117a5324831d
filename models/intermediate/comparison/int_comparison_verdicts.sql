with

-- the interval and the test of the verdict; the intervals of the worst and the best
-- case are never narrower than the one seen
intervals as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        intervals.alpha,
        intervals.margin,
        case when intervals.is_fixed_suite then intervals.fixed_low else intervals.low
        end as low,
        case when intervals.is_fixed_suite then intervals.fixed_high else intervals.high
        end as high,
        tests.p_value_holm,
        coalesce(intervals.unknown_count, 0) as unknown_count,
        intervals.difference_lowest - case
            when intervals.is_fixed_suite then intervals.fixed_width
            else greatest(
                    intervals.bounded_t * intervals.lowest_std_error,
                    intervals.difference - intervals.low
                )
        end as lowest_low,
        intervals.difference_highest + case
            when intervals.is_fixed_suite then intervals.fixed_width
            else greatest(
                    intervals.bounded_t * intervals.highest_std_error,
                    intervals.high - intervals.difference
                )
        end as highest_high,
        coverage.obstacle
    from {{ ref('int_difference_intervals') }} as intervals
    inner join {{ ref('int_compared_coverage') }} as coverage using (pair_key)
    inner join {{ ref('int_difference_tests') }} as tests
        using (pair_key, score, slice_by, slice_value)
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
        pair_key,
        score,
        slice_by,
        slice_value,
        unknown_count,
        lowest_low,
        highest_high,
        observed_verdict,
        verdict_anyway,
        case
            when obstacle is null then verdict_anyway else 'not comparable'
        end as verdict
    from survived
)

select * from verdicts
