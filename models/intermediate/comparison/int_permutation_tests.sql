with

-- the sums of the signs that were seen; a hair of room for rounding
seen as (
    select
        groups.group_key,
        groups.task_count,
        abs(sum(blocks.signed_sum)) - 1e-12 * sum(blocks.absolute_sum) as distance
    from {{ ref('int_block_sums') }} as blocks
    inner join {{ ref('int_slice_differences') }} as groups using (group_key)
    where blocks.pattern = 0
    group by
        groups.group_key,
        groups.task_count
),

flipped as (
    select
        seen.group_key,
        seen.task_count,
        abs(
            block_1.signed_sum
            + coalesce(block_2.signed_sum, 0)
            + coalesce(block_3.signed_sum, 0)
            + coalesce(block_4.signed_sum, 0)
        ) >= seen.distance as is_as_far
    from seen
    inner join {{ ref('int_sign_flips') }} as flips using (task_count)
    inner join {{ ref('int_block_sums') }} as block_1
        on seen.group_key = block_1.group_key
        and block_1.block = 1
        and flips.pattern_1 = block_1.pattern
    left join {{ ref('int_block_sums') }} as block_2
        on seen.group_key = block_2.group_key
        and block_2.block = 2
        and flips.pattern_2 = block_2.pattern
    left join {{ ref('int_block_sums') }} as block_3
        on seen.group_key = block_3.group_key
        and block_3.block = 3
        and flips.pattern_3 = block_3.pattern
    left join {{ ref('int_block_sums') }} as block_4
        on seen.group_key = block_4.group_key
        and block_4.block = 4
        and flips.pattern_4 = block_4.pattern
),

counted as (
    select
        group_key,
        task_count,
        count(*) as flip_count,
        count(case when is_as_far then 1 end) as far_count
    from flipped
    group by
        group_key,
        task_count
),

-- what was seen is one of all ways; of random draws it is one more
tests as (
    select
        group_key,
        case
            when task_count <= 14 then 1e0 * far_count / flip_count
            else (1e0 + far_count) / (1e0 + flip_count)
        end as p_value
    from counted
)

select * from tests
