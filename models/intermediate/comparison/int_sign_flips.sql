with

sizes as (
    select distinct
        task_count,
        case when task_count <= 14 then power(2, task_count - 1) else 9999 end as flip_count
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

-- A pattern is a number whose binary digits say which signs of a block of tasks change. All
-- ways in blocks of 7 tasks; the last sign stays, since changing all signs changes nothing.
-- Or draws by the digits of an MD5, in blocks of 8.
signs as (
    select
        task_count,
        flip,
        {%- for block in range(4) %}
        case
            when task_count > 14 then {{ hex_byte('digest', 2 * block + 1) }}
            {%- if block == 0 %}
            else (flip - 1) % 128
            {%- elif block == 1 %}
            else cast(floor((flip - 1) / 128) as bigint)
            {%- else %}
            else 0
            {%- endif %}
        end as pattern_{{ block + 1 }}{{ ',' if not loop.last }}
        {%- endfor %}
    from digests
)

select * from signs
