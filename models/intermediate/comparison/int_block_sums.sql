with

placed as (
    select
        tasks.group_key,
        tasks.difference,
        case when groups.task_count <= 14 then 7 else 8 end as block_size,
        row_number() over (
            partition by tasks.group_key
            order by tasks.task_key
        ) - 1 as place
    from {{ ref('int_grouped_differences') }} as tasks
    inner join {{ ref('int_difference_errors') }} as groups using (group_key)
    where tasks.difference is not null and groups.is_permuted
),

blocks as (
    select
        group_key,
        difference,
        cast(floor(place / block_size) as bigint) + 1 as block,
        cast(power(2, place % block_size) as bigint) as digit
    from placed
),

patterns as (
    select {{ numbers_to(255, first=0) }} as pattern
),

-- the sum of a block of tasks for each pattern of signs
sums as (
    select
        blocks.group_key,
        blocks.block,
        patterns.pattern,
        sum(case
            when (patterns.pattern & blocks.digit) > 0 then -blocks.difference
            else blocks.difference
        end) as signed_sum,
        sum(abs(blocks.difference)) as absolute_sum
    from blocks
    cross join patterns
    group by
        blocks.group_key,
        blocks.block,
        patterns.pattern
)

select * from sums
