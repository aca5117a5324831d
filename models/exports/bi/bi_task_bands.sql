with

task_bands as (
    select * from {{ ref('task_bands') }}
)

select * from task_bands
