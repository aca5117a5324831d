with

tasks as (
    select
        tasks.pair_key,
        tasks.task_id,
        tasks.occurrence,
        tasks.baseline_task_index,
        tasks.task_index,
        pairs.baseline_run_id,
        pairs.baseline_agent_name,
        pairs.run_id,
        pairs.agent_name
    from {{ ref('int_compared_tasks') }} as tasks
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
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
        tasks.pair_key,
        tasks.task_id,
        tasks.occurrence,
        baseline_slices.slice_by,
        baseline_slices.slice_value
    from tasks
    inner join {{ ref('task_slices') }} as baseline_slices
        on tasks.baseline_run_id = baseline_slices.run_id
        and tasks.baseline_agent_name = baseline_slices.agent_name
        and tasks.baseline_task_index = baseline_slices.task_index
    union all
    select
        tasks.pair_key,
        tasks.task_id,
        tasks.occurrence,
        candidate_slices.slice_by,
        candidate_slices.slice_value
    from tasks
    inner join {{ ref('task_slices') }} as candidate_slices
        on tasks.run_id = candidate_slices.run_id
        and tasks.agent_name = candidate_slices.agent_name
        and tasks.task_index = candidate_slices.task_index
    left join {{ ref('task_slices') }} as baseline_slices
        on tasks.baseline_run_id = baseline_slices.run_id
        and tasks.baseline_agent_name = baseline_slices.agent_name
        and tasks.baseline_task_index = baseline_slices.task_index
        and candidate_slices.slice_by = baseline_slices.slice_by
    where baseline_slices.run_id is null
)

select * from slices
