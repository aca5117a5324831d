with

groups as (
    select
        group_key,
        task_count
    from {{ ref('int_slice_differences') }}
    where task_count between 2 and 29
),

sizes as (
    select distinct
        task_count,
        case when task_count <= 14 then cast(power(2, task_count) as bigint) else 9999 end
            as flip_count
    from groups
),

flips as (
    select
        task_count,
        {{ numbers_to('flip_count') }} as flip
    from sizes
),

places as (
    select
        task_count,
        flip,
        md5(task_count || ':' || flip) as digest,
        {{ numbers_to('task_count') }} as place
    from flips
),

-- all ways to exchange the two runs task by task, or draws by the digits of an MD5
signs as (
    select
        task_count,
        flip,
        place,
        case
            when task_count <= 14
                then floor((flip - 1) / power(2, place - 1)) % 2 = 1
            else substr(digest, cast(place as integer), 1) >= '8'
        end as is_flipped
    from places
)

select * from signs
