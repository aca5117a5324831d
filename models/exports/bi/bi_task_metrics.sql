with

task_metrics as (
    select * from {{ ref('task_metrics') }}
)

select * from task_metrics
