with

tasks as (
    select * from {{ ref('task_bands') }}
),

runs as (
    select * from {{ ref('runs') }}
),

-- the first field that the run is sliced by
categories as (
    select * from {{ ref('task_slices') }}
    where slice_by_index = 0
),

run_tasks as (
    select
        -- the length tells where run_id ends, because both names may contain a colon
        tasks.task_index || ':' || length(tasks.run_id) || ':' || tasks.run_id
        || ':' || tasks.agent_name as agent_task_id,
        tasks.run_id,
        tasks.task_index,
        tasks.agent_name,
        runs.profiled_at,
        categories.slice_by as category_field,
        categories.slice_value as category,
        tasks.band,
        tasks.pass_ratio,
        tasks.reward_mean
    from tasks
    inner join runs using (run_id)
    left join categories using (run_id, task_index, agent_name)
)

select * from run_tasks
