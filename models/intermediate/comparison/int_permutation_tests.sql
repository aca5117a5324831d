with

groups as (
    select
        groups.group_key,
        groups.task_count,
        groups.difference * groups.task_count as total,
        sum(abs(tasks.difference)) as absolute_total
    from {{ ref('int_slice_differences') }} as groups
    inner join {{ ref('int_grouped_differences') }} as tasks using (group_key)
    where groups.task_count between 2 and 29
    group by
        groups.group_key,
        groups.task_count,
        groups.difference
),

flipped as (
    select
        groups.group_key,
        signs.flip,
        abs(sum(case when signs.is_flipped then -tasks.difference else tasks.difference end))
        >= abs(groups.total) - 1e-12 * groups.absolute_total as is_as_far
    from groups
    inner join {{ ref('int_sign_flips') }} as signs using (task_count)
    inner join {{ ref('int_grouped_differences') }} as tasks
        on groups.group_key = tasks.group_key and signs.place = tasks.place
    group by
        groups.group_key,
        groups.total,
        groups.absolute_total,
        signs.flip
),

-- the observed order is one of all ways; of random draws it is one more
tests as (
    select
        flipped.group_key,
        case
            when groups.task_count <= 14
                then count(case when flipped.is_as_far then 1 end) / cast(count(*) as double)
            else (1 + count(case when flipped.is_as_far then 1 end))
                / (1e0 + count(*))
        end as p_value
    from flipped
    inner join groups using (group_key)
    group by
        flipped.group_key,
        groups.task_count
)

select * from tests
