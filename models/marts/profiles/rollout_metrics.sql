with

metric_values as (
    select * from {{ ref('int_rollout_metrics') }}
),

rollout_metrics as (
    select
        run_id,
        task_index,
        rollout_index,
        metric,
        value
    from metric_values
    where is_usable
)

select * from rollout_metrics
