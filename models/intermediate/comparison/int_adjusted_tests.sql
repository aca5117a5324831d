with

-- many candidates, or many values of a field to slice by, are one family
families as (
    select
        tests.group_key,
        tests.p_value,
        intervals.score,
        intervals.slice_by,
        row_number() over (
            partition by intervals.score, intervals.slice_by
            order by tests.p_value, tests.group_key
        ) as place,
        count(*) over (partition by intervals.score, intervals.slice_by) as family_size
    from {{ ref('int_difference_tests') }} as tests
    inner join {{ ref('int_difference_intervals') }} as intervals using (group_key)
    where tests.p_value is not null
),

-- Holm's method: the smallest p is multiplied by the size of the family, the next by
-- one less, and none is smaller than the one before
adjusted as (
    select
        group_key,
        family_size,
        max(least(1e0, p_value * (family_size - place + 1))) over (
            partition by score, slice_by
            order by place
            rows between unbounded preceding and current row
        ) as p_value_holm
    from families
)

select * from adjusted
