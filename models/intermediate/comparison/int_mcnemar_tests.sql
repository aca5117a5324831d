with

groups as (
    select
        *,
        lost_count + gained_count as changed_count,
        least(lost_count, gained_count) as fewer_count
    from {{ ref('int_mean_differences') }}
    where is_all_binary
),

places as (
    select
        *,
        {{ numbers_to('fewer_count', first=0) }} as place
    from groups
),

-- of the tasks that changed, each is as likely to be lost as to be gained
chances as (
    select
        *,
        {{ coin_chance('changed_count', 'place') }} as chance
    from places
),

tests as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        least(1e0, 2 * {{ sum_in_order('chance', ['place']) }}) as p_value,
        least(
            1e0,
            2 * {{ sum_in_order('chance', ['place']) }}
            - max(case when place = fewer_count then chance end)
        ) as mid_p_value
    from chances
    group by
        pair_key,
        score,
        slice_by,
        slice_value
)

select * from tests
