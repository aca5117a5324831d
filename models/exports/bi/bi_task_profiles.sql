with

task_profiles as (
    select * from {{ ref('task_profiles') }}
)

select * from task_profiles
