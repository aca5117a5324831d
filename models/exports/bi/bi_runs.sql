with

runs as (
    select
        run_id,
        rollouts_path,
        inputs_path,
        is_partial_allowed,
        pass_threshold,
        answer_field,
        slice_by,
        zero_failure_classes,
        is_missing_zero,
        prices_path,
        expected_rollout_count,
        completed_rollout_count,
        missing_rollout_count,
        measured_rollout_count,
        masked_rollout_count,
        failed_attempt_count,
        completion_pct,
        task_count,
        complete_task_count,
        partial_task_count,
        dropped_task_count,
        masked_task_count,
        is_fan_out,
        skipped_value_count,
        {{ as_utc('profiled_at') }} as profiled_at
    from {{ ref('runs') }}
)

select * from runs
