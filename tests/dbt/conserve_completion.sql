-- Expected = completed + missing, in rollouts and in tasks; tasks add up to the run.
with

profiles as (
    select
        run_id,
        count(*) as task_count,
        sum(measured_rollout_count) as measured_rollout_count,
        sum(masked_rollout_count) as masked_rollout_count
    from {{ ref('task_profiles') }}
    group by run_id
)

select runs.run_id
from {{ ref('runs') }} as runs
left join profiles using (run_id)
where runs.run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    and (
        runs.expected_rollout_count
        = runs.completed_rollout_count + runs.missing_rollout_count
        and runs.task_count
        = runs.complete_task_count + runs.partial_task_count + runs.dropped_task_count
        and runs.completed_rollout_count
        = runs.measured_rollout_count + runs.masked_rollout_count
        and runs.measured_rollout_count = coalesce(profiles.measured_rollout_count, 0)
        and runs.masked_rollout_count = coalesce(profiles.masked_rollout_count, 0)
        and runs.task_count - runs.dropped_task_count = coalesce(profiles.task_count, 0)
        and (runs.is_partial_allowed or runs.missing_rollout_count = 0)
    ) is not true
