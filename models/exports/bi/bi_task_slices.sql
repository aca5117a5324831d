with

task_slices as (
    select * from {{ ref('task_slices') }}
)

select * from task_slices
