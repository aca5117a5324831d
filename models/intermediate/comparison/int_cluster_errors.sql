{%- set order = ['tasks.task_key'] -%}
with

-- tasks that share a source are not independent: their deviations are added up first
sums as (
    select
        tasks.group_key,
        tasks.cluster,
        {{ sum_in_order('tasks.difference - groups.difference', order) }}
            as deviation_sum,
        {{ sum_in_order('abs(tasks.difference)', order) }} as absolute_sum
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
        max(abs(deviation_sum)) > 1e-12 * max(absolute_sum) as is_spread,
        {{ sum_in_order('deviation_sum * deviation_sum', ['cluster']) }} as square_sum
    from sums
    group by group_key
),

-- sums that differ by rounding only have no spread
errors as (
    select
        squared.group_key,
        squared.cluster_count,
        case
            when squared.cluster_count < 2 then null
            when squared.is_spread then {{ finite('sqrt(
                squared.square_sum * squared.cluster_count / (squared.cluster_count - 1)
            ) / groups.task_count') }}
            else 0e0
        end as cluster_std_error
    from squared
    inner join {{ ref('int_slice_differences') }} as groups using (group_key)
)

select * from errors
