-- the step of each task in a curriculum: places and tasks are matched in the order of
-- their pass rates
with

tasks as (
    select
        task_index,
        agent_name,
        row_number() over (order by pass_ratio desc, draw asc) as difficulty_place
    from {{ ref('int_picked_tasks') }}
),

steps as (
    select
        tasks.task_index,
        tasks.agent_name,
        places.step
    from tasks
    inner join {{ ref('int_curriculum_places') }} as places using (difficulty_place)
)

select * from steps
