with

metrics as (
    select * from {{ ref('int_task_metrics') }}
),

task_metrics as (
    select
        run_id,
        task_index,
        agent_name,
        metric,
        value_count,
        value_mean,
        value_max,
        value_min,
        value_median,
        value_std
    from metrics
)

select * from task_metrics
