with

tasks as (
    select
        run_id,
        count(*) as task_count,
        cast(sum(rollout_count) as bigint) as expected_count,
        cast(sum(completed_count) as bigint) as completed_count,
        cast(sum(measured_count) as bigint) as measured_count,
        count(case when completed_count = rollout_count then 1 end) as complete_count,
        count(case when completed_count = 0 then 1 end) as dropped_count,
        count(case when completed_count > 0 and measured_count = 0 then 1 end)
            as masked_task_count,
        -- an agent counts for a task unless all its rollouts of the task are masked
        count(case when rollout_count > masked_count then 1 end)
        > count(distinct case when rollout_count > masked_count then task_index end)
            as is_fan_out
    from {{ ref('int_expected_tasks') }}
    group by run_id
),

failures as (
    select
        run_id,
        count(*) as failed_attempt_count
    from {{ ref('stg_failures') }}
    where is_readable
    group by run_id
),

skipped as (
    select
        run_id,
        count(*) as skipped_value_count
    from {{ ref('int_rollout_metrics') }}
    where not is_usable
    group by run_id
),

-- a run without any input has a row too
completion as (
    select
        runs.run_id,
        coalesce(tasks.expected_count, 0) as expected_rollout_count,
        coalesce(tasks.completed_count, 0) as completed_rollout_count,
        coalesce(tasks.measured_count, 0) as measured_rollout_count,
        coalesce(failures.failed_attempt_count, 0) as failed_attempt_count,
        coalesce(100e0 * tasks.completed_count / tasks.expected_count, 100e0)
            as completion_pct,
        coalesce(tasks.task_count, 0) as task_count,
        coalesce(tasks.complete_count, 0) as complete_task_count,
        coalesce(tasks.dropped_count, 0) as dropped_task_count,
        coalesce(tasks.masked_task_count, 0) as masked_task_count,
        coalesce(tasks.is_fan_out, false) as is_fan_out,
        coalesce(skipped.skipped_value_count, 0) as skipped_value_count
    from {{ ref('stg_runs') }} as runs
    left join tasks using (run_id)
    left join failures using (run_id)
    left join skipped using (run_id)
)

select * from completion
