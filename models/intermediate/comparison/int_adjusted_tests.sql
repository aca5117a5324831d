with

-- many candidates, or many values of a field to slice by, are one family
families as (
    select
        group_key,
        verdict_p_value,
        score,
        slice_by,
        row_number() over (
            partition by score, slice_by
            order by verdict_p_value, group_key
        ) as place,
        count(*) over (partition by score, slice_by) as family_size
    from {{ ref('int_difference_tests') }}
    where verdict_p_value is not null
),

-- Holm's method: the smallest p is multiplied by the size of the family, the next by
-- one less, and none is smaller than the one before
adjusted as (
    select
        group_key,
        family_size,
        max(least(1e0, verdict_p_value * (family_size - place + 1))) over (
            partition by score, slice_by
            order by place
            rows between unbounded preceding and current row
        ) as p_value_holm
    from families
)

select * from adjusted
