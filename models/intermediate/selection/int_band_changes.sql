-- what changed since an earlier run; a task that it has several times counts once
with

recipe as (
    select * from {{ ref('stg_recipes') }}
),

earlier as (
    select
        candidates.task_id,
        candidates.band
    from {{ ref('curation_candidates') }} as candidates
    inner join recipe on candidates.run_id = recipe.since_run_id
    qualify
        row_number() over (
            partition by candidates.task_id
            order by
                candidates.agent_name != coalesce(recipe.agent_name, ''),
                candidates.task_index,
                candidates.agent_name
        ) = 1
),

changes as (
    select
        tasks.task_index,
        tasks.agent_name,
        earlier.band as earlier_band,
        case
            when earlier.band is null then 'new'
            when tasks.band = earlier.band then 'same'
            when tasks.band = 'solved' then 'newly_solved'
            when
                earlier.band = 'solved' and tasks.band in ('learnable', 'unsolved')
                then 'forgotten'
            when tasks.band = 'learnable' then 'newly_learnable'
            when
                earlier.band = 'learnable' and tasks.band = 'unsolved'
                then 'forgotten'
            else 'unclear'
        end as change
    from {{ ref('int_judged_tasks') }} as tasks
    cross join recipe
    left join earlier using (task_id)
    where recipe.since_run_id is not null
)

select * from changes
