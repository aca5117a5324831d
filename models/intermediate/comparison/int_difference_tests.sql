with

tests as (
    select
        intervals.group_key,
        intervals.pair_key,
        intervals.score,
        intervals.slice_by,
        case
            when intervals.interval_method is null then null
            when intervals.interval_method = 'newcombe' then 'mcnemar'
            when intervals.interval_method = 'cluster' then 't'
            when intervals.is_permuted then 'permutation'
            when intervals.interval_method = 'no_spread' then 'sign'
            else 't'
        end as test,
        tails.t_p_value,
        tails.fixed_p_value,
        mcnemar.p_value as mcnemar_p_value,
        mcnemar.mid_p_value,
        permutations.p_value as permutation_p_value,
        -- the chance that as many fair coins all fall alike
        case
            when intervals.difference = 0 then 1e0
            else power(2e0, 1 - intervals.unit_count)
        end as sign_p_value
    from {{ ref('int_difference_intervals') }} as intervals
    inner join {{ ref('int_difference_tails') }} as tails using (group_key)
    left join {{ ref('int_mcnemar_tests') }} as mcnemar using (group_key)
    left join {{ ref('int_permutation_tests') }} as permutations using (group_key)
),

-- a verdict about exactly these tasks has a test of its own
chosen as (
    select
        tests.group_key,
        tests.score,
        tests.slice_by,
        tests.test,
        tests.fixed_p_value,
        case when tests.test = 'mcnemar' then tests.mid_p_value end as mid_p_value,
        case tests.test
            when 't' then tests.t_p_value
            when 'mcnemar' then tests.mcnemar_p_value
            when 'permutation' then tests.permutation_p_value
            when 'sign' then tests.sign_p_value
        end as p_value,
        pairs.is_fixed_suite
    from tests
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
)

select
    *,
    case when is_fixed_suite then fixed_p_value else p_value end as verdict_p_value
from chosen
