with

batch as (
    select * from {{ batch_runs() }}
),

runs as (
    select
        run_id,
        rollouts_path,
        inputs_path,
        failures_path,
        rollouts_file,
        inputs_file,
        failures_file,
        torn_rollouts_count,
        torn_failures_count,
        verdicts_file,
        is_partial_allowed,
        zero_classes,
        is_missing_zero,
        prices_path,
        {{ setting('pass_threshold') }} as pass_threshold,
        {{ setting('answer_field') }} as answer_field,
        {{ setting('slice_by') }} as slice_by,
        -- before the files are read, so that later lines are recognized as new
        {{ utc_now() }} as profiled_at
    from batch
)

select * from runs
