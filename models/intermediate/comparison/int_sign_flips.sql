with

sizes as (
    select distinct task_count
    from {{ ref('int_difference_intervals') }}
    where is_permuted
),

numbers as (
    select
        task_count,
        {{ numbers_to(
            'cast(case when task_count > 14 then 9999 else power(2, task_count - 1) end'
            ~ ' as bigint)'
        ) }} as flip
    from sizes
),

digests as (
    select
        *,
        md5(task_count || ':' || flip) as digest
    from numbers
),

-- A pattern is a number whose binary digits say which signs of a block of 8 tasks
-- change. All ways, except that the last sign stays, since changing all signs changes
-- nothing; or draws by the digits of an MD5.
flips as (
    select
        task_count,
        flip,
        case
            when task_count > 14 then {{ hex_byte('digest', 1) }}
            else (flip - 1) % 256
        end as pattern_0,
        case
            when task_count > 14 then {{ hex_byte('digest', 3) }}
            else cast(floor((flip - 1) / 256) as bigint)
        end as pattern_1,
        case
            when task_count > 14 then {{ hex_byte('digest', 5) }}
            else 0
        end as pattern_2,
        case
            when task_count > 14 then {{ hex_byte('digest', 7) }}
            else 0
        end as pattern_3
    from digests
)

select * from flips
