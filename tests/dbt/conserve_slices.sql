-- The tasks of every slice are as many as its scores are averaged over.
with

tasks as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        count(*) as task_count
    from {{ ref('task_slices') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by
        run_id,
        agent_name,
        slice_by,
        slice_value
),

scores as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        task_count
    from {{ ref('agent_scores') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
        and slice_by != 'all'
        and score = 'pass_rate'
)

select
    tasks.run_id as task_run_id,
    scores.run_id as score_run_id
from tasks
full outer join scores
    using (run_id, agent_name, slice_by, slice_value)
where (tasks.task_count = scores.task_count) is not true
