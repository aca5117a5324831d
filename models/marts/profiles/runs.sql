with

profiled as (
    select
        runs.run_id,
        identities.model_names,
        identities.agent_names,
        identities.environment_names,
        identities.sampling,
        identities.collection_started_at,
        identities.collection_ended_at,
        runs.made_with,
        runs.endpoint_host,
        runs.task_file,
        runs.task_file_hash,
        runs.tags,
        runs.rollouts_path,
        runs.inputs_path,
        runs.origin_rollouts_path,
        runs.is_partial_allowed,
        runs.pass_threshold,
        runs.answer_field,
        cast(to_json(runs.slice_by) as string) as slice_by,
        cast(to_json(runs.zero_classes) as string) as zero_failure_classes,
        runs.is_missing_zero,
        runs.prices_path,
        runs.stopping_rule,
        completion.expected_rollout_count,
        completion.completed_rollout_count,
        completion.expected_rollout_count - completion.completed_rollout_count
            as missing_rollout_count,
        completion.measured_rollout_count,
        completion.completed_rollout_count - completion.measured_rollout_count
            as masked_rollout_count,
        completion.failed_attempt_count,
        completion.completion_pct,
        completion.task_count,
        completion.complete_task_count,
        completion.task_count
        - completion.complete_task_count
        - completion.dropped_task_count as partial_task_count,
        completion.dropped_task_count,
        completion.masked_task_count,
        completion.is_fan_out,
        completion.skipped_value_count,
        runs.profiled_at
    from {{ ref('stg_runs') }} as runs
    inner join {{ ref('int_run_completion') }} as completion using (run_id)
    inner join {{ ref('int_run_identities') }} as identities using (run_id)
)

select * from profiled
