with

-- sign: the chance that as many fair coins all fall alike
tests as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        intervals.is_fixed_suite,
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
        case
            when intervals.difference = 0 then 1e0
            else power(2e0, 1 - intervals.unit_count)
        end as sign_p_value
    from {{ ref('int_difference_intervals') }} as intervals
    inner join {{ ref('int_difference_tails') }} as tails
        using (pair_key, score, slice_by, slice_value)
    left join {{ ref('int_mcnemar_tests') }} as mcnemar
        using (pair_key, score, slice_by, slice_value)
    left join {{ ref('int_permutation_tests') }} as permutations
        using (pair_key, score, slice_by, slice_value)
),

chosen as (
    select
        *,
        case test
            when 't' then t_p_value
            when 'mcnemar' then mcnemar_p_value
            when 'permutation' then permutation_p_value
            when 'sign' then sign_p_value
        end as p_value
    from tests
),

-- a verdict about exactly these tasks has a test of its own
decisive as (
    select
        *,
        case when is_fixed_suite then fixed_p_value else p_value end as verdict_p_value
    from chosen
),

-- many candidates, or many values of a field to slice by, are one family
families as (
    select
        *,
        row_number() over (
            partition by score, slice_by
            order by verdict_p_value nulls last, pair_key, slice_value
        ) as place,
        count(verdict_p_value) over (partition by score, slice_by) as test_count
    from decisive
),

-- Holm's method: the smallest p is multiplied by the size of the family, the next by
-- one less, and none is smaller than the one before
adjusted as (
    select
        *,
        max(least(1e0, verdict_p_value * (test_count - place + 1))) over (
            partition by score, slice_by
            order by place
            rows between unbounded preceding and current row
        ) as holm_p_value
    from families
),

p_values as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        test,
        p_value,
        case when test = 'mcnemar' then mid_p_value end as mid_p_value,
        fixed_p_value,
        case when verdict_p_value is not null then test_count end as family_size,
        case when verdict_p_value is not null then holm_p_value end as p_value_holm
    from adjusted
)

select * from p_values
