with

-- one number in place of the keys: later models join by it
keyed as (
    select
        dense_rank() over (
            order by
                differences.pair_key, differences.score,
                slices.slice_by, slices.slice_value
        ) as group_key,
        slices.slice_by,
        slices.slice_value,
        clusters.slice_value as cluster,
        differences.*,
        case
            when differences.difference is not null
                then row_number() over (
                    partition by
                        differences.pair_key, differences.score,
                        slices.slice_by, slices.slice_value
                    order by
                        differences.difference is null,
                        differences.task_id, differences.occurrence
                )
        end as place
    from {{ ref('int_task_differences') }} as differences
    inner join {{ ref('int_compared_slices') }} as slices
        using (pair_key, task_id, occurrence)
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    left join {{ ref('int_compared_slices') }} as clusters
        on differences.pair_key = clusters.pair_key
        and differences.task_id = clusters.task_id
        and differences.occurrence = clusters.occurrence
        and pairs.cluster_by = clusters.slice_by
)

select * from keyed
