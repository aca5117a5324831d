with

tasks as (
    select
        tasks.task_key,
        tasks.pair_key,
        tasks.baseline_task_index,
        tasks.task_index,
        pairs.baseline_run_id,
        pairs.baseline_agent_name,
        pairs.run_id,
        pairs.agent_name
    from {{ ref('int_compared_tasks') }} as tasks
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
),

found as (
    select
        tasks.task_key,
        tasks.pair_key,
        slices.slice_by,
        slices.slice_value,
        true as is_baseline
    from tasks
    inner join {{ ref('task_slices') }} as slices
        on tasks.baseline_run_id = slices.run_id
        and tasks.baseline_agent_name = slices.agent_name
        and tasks.baseline_task_index = slices.task_index
    union all
    select
        tasks.task_key,
        tasks.pair_key,
        slices.slice_by,
        slices.slice_value,
        false as is_baseline
    from tasks
    inner join {{ ref('task_slices') }} as slices
        on tasks.run_id = slices.run_id
        and tasks.agent_name = slices.agent_name
        and tasks.task_index = slices.task_index
),

-- a field that both runs are sliced by: the baseline's value counts
slices as (
    select
        task_key,
        pair_key,
        'all' as slice_by,
        'all' as slice_value
    from tasks
    union all
    select
        task_key,
        pair_key,
        slice_by,
        coalesce(
            max(case when is_baseline then slice_value end), max(slice_value)
        ) as slice_value
    from found
    group by
        task_key,
        pair_key,
        slice_by
)

select * from slices
