with

-- tasks that share a source are not independent: their deviations are added up first
sums as (
    select
        tasks.group_key,
        tasks.cluster,
        {{ sum_in_order('tasks.difference - groups.difference', ['task_id', 'occurrence']) }}
            as deviation_sum
    from {{ ref('int_grouped_differences') }} as tasks
    inner join {{ ref('int_slice_differences') }} as groups using (group_key)
    where tasks.cluster is not null and tasks.difference is not null
    group by
        tasks.group_key,
        tasks.cluster
),

squared as (
    select
        group_key,
        count(*) as cluster_count,
        {{ sum_in_order('deviation_sum * deviation_sum', ['cluster']) }} as square_sum
    from sums
    group by group_key
),

errors as (
    select
        squared.group_key,
        squared.cluster_count,
        sqrt(
            squared.square_sum * squared.cluster_count
            / nullif(squared.cluster_count - 1, 0)
        ) / groups.task_count as cluster_std_error
    from squared
    inner join {{ ref('int_slice_differences') }} as groups using (group_key)
)

select * from errors
