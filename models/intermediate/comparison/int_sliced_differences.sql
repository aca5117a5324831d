with

pairs as (
    select * from {{ ref('int_compared_runs') }}
),

tasks as (
    select * from {{ ref('int_compared_tasks') }}
),

slice_values as (
    select
        tasks.pair_key,
        tasks.task_id,
        tasks.occurrence,
        slices.slice_by,
        slices.slice_value,
        true as is_baseline
    from tasks
    inner join pairs using (pair_key)
    inner join {{ ref('task_slices') }} as slices
        on pairs.baseline_run_id = slices.run_id
        and pairs.baseline_agent_name = slices.agent_name
        and tasks.baseline_task_index = slices.task_index
    union all
    select
        tasks.pair_key,
        tasks.task_id,
        tasks.occurrence,
        slices.slice_by,
        slices.slice_value,
        false as is_baseline
    from tasks
    inner join pairs using (pair_key)
    inner join {{ ref('task_slices') }} as slices
        on pairs.run_id = slices.run_id
        and pairs.agent_name = slices.agent_name
        and tasks.task_index = slices.task_index
),

-- a field that both runs are sliced by: the baseline's value counts
slices as (
    select
        pair_key,
        task_id,
        occurrence,
        'all' as slice_by,
        'all' as slice_value
    from tasks
    union all
    select
        pair_key,
        task_id,
        occurrence,
        slice_by,
        coalesce(
            max(case when is_baseline then slice_value end), max(slice_value)
        ) as slice_value
    from slice_values
    group by
        pair_key,
        task_id,
        occurrence,
        slice_by
),

clusters as (
    select
        slices.pair_key,
        slices.task_id,
        slices.occurrence,
        slices.slice_value as cluster
    from slices
    inner join pairs using (pair_key)
    where pairs.cluster_by = slices.slice_by
),

differences as (
    select
        differences.*,
        slices.slice_by,
        slices.slice_value,
        clusters.cluster
    from {{ ref('int_task_differences') }} as differences
    inner join slices using (pair_key, task_id, occurrence)
    left join clusters using (pair_key, task_id, occurrence)
)

select * from differences
