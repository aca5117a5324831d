with

clusters as (
    select
        slices.task_key,
        slices.slice_value as cluster
    from {{ ref('int_compared_slices') }} as slices
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    where pairs.cluster_by = slices.slice_by
),

grouped as (
    select
        groups.group_key,
        differences.task_key,
        clusters.cluster,
        differences.value_range,
        differences.baseline_value,
        differences.value,
        differences.difference,
        differences.difference_lowest,
        differences.difference_highest,
        differences.baseline_variance,
        differences.variance,
        differences.baseline_rollout_count,
        differences.rollout_count,
        differences.unknown_count,
        differences.is_binary
    from {{ ref('int_task_differences') }} as differences
    inner join {{ ref('int_compared_slices') }} as slices using (task_key)
    inner join {{ ref('int_compared_groups') }} as groups
        on slices.pair_key = groups.pair_key
        and slices.slice_by = groups.slice_by
        and slices.slice_value = groups.slice_value
        and differences.score = groups.score
    left join clusters on differences.task_key = clusters.task_key
)

select * from grouped
