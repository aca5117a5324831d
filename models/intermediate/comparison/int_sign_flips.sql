with

sizes as (
    select distinct
        task_count,
        case when task_count <= 14 then power(2, task_count - 1) else 9999 end
            as flip_count
    from {{ ref('int_difference_errors') }}
    where is_permuted
),

flips as (
    select
        task_count,
        {{ numbers_to('cast(flip_count as bigint)') }} as flip
    from sizes
),

digests as (
    select
        task_count,
        flip,
        md5(task_count || ':' || flip) as digest
    from flips
),

-- A pattern is a number whose binary digits say which signs of a block of tasks change.
-- All ways in blocks of 7 tasks; the last sign stays, since changing all signs changes
-- nothing. Or draws by the digits of an MD5, in blocks of 8.
signs as (
    select
        task_count,
        flip,
        case
            when task_count > 14 then {{ hex_byte('digest', 1) }}
            else (flip - 1) % 128
        end as pattern_1,
        case
            when task_count > 14 then {{ hex_byte('digest', 3) }}
            else cast(floor((flip - 1) / 128) as bigint)
        end as pattern_2,
        case
            when task_count > 14 then {{ hex_byte('digest', 5) }}
            else 0
        end as pattern_3,
        case
            when task_count > 14 then {{ hex_byte('digest', 7) }}
            else 0
        end as pattern_4
    from digests
)

select * from signs
