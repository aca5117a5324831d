with

slices as (
    select distinct
        pair_key,
        slice_by,
        slice_value
    from {{ ref('int_compared_slices') }}
),

scored as (
    select
        pair_key,
        'mean_reward' as score,
        slice_by,
        slice_value
    from slices
    union all
    select
        pair_key,
        'pass_rate' as score,
        slice_by,
        slice_value
    from slices
),

-- one number in place of the keys: later models join by it
groups as (
    select
        row_number() over (order by pair_key, score, slice_by, slice_value)
            as group_key,
        pair_key,
        score,
        slice_by,
        slice_value
    from scored
)

select * from groups
