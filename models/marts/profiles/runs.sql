with

runs as (
    select * from {{ ref('stg_runs') }}
),

tasks as (
    select
        tasks.run_id,
        count(*) as task_count,
        {{ integer('sum(tasks.expected_num_rollouts)') }} as expected_rollout_count,
        count(profiles.task_index) as started_task_count,
        {{ integer('coalesce(sum(profiles.num_rollouts), 0)') }}
            as completed_rollout_count,
        count(case when profiles.missing_num_rollouts = 0 then 1 end)
            as complete_task_count
    from {{ ref('int_expected_tasks') }} as tasks
    left join {{ ref('task_profiles') }} as profiles
        on tasks.run_id = profiles.run_id
        and tasks.task_index = profiles.task_index
    group by tasks.run_id
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
    from {{ ref('int_rollout_values') }}
    where not is_usable
    group by run_id
),

described as (
    select
        runs.run_id,
        runs.rollouts_path,
        runs.inputs_path,
        runs.is_partial_allowed,
        runs.pass_threshold,
        runs.answer_field,
        {{ list_text('runs.slice_by') }} as slice_by,
        coalesce(tasks.expected_rollout_count, 0) as expected_rollout_count,
        coalesce(tasks.completed_rollout_count, 0) as completed_rollout_count,
        coalesce(tasks.expected_rollout_count - tasks.completed_rollout_count, 0)
            as missing_rollout_count,
        coalesce(failures.failed_attempt_count, 0) as failed_attempt_count,
        coalesce(
            100.0 * tasks.completed_rollout_count / tasks.expected_rollout_count, 100.0
        ) as completion_pct,
        coalesce(tasks.task_count, 0) as task_count,
        coalesce(tasks.complete_task_count, 0) as complete_task_count,
        coalesce(tasks.started_task_count - tasks.complete_task_count, 0)
            as partial_task_count,
        coalesce(tasks.task_count - tasks.started_task_count, 0) as dropped_task_count,
        coalesce(skipped.skipped_value_count, 0) as skipped_value_count,
        runs.profiled_at
    from runs
    left join tasks on runs.run_id = tasks.run_id
    left join failures on runs.run_id = failures.run_id
    left join skipped on runs.run_id = skipped.run_id
)

select * from described
