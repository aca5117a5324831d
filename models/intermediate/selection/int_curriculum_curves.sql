-- how much each stratum is wanted by all steps of a curriculum together
with

tasks as (
    select * from {{ ref('int_capped_tasks') }}
    where stratum is not null
),

counted as (
    select count(*) as task_count
    from tasks
),

-- no step is without a task
recipe as (
    select
        recipe.*,
        least(recipe.steps, counted.task_count) as step_count,
        greatest(step_count - 1, 1) as last_step
    from {{ ref('int_recipe') }} as recipe
    cross join counted
    where recipe.task_order = 'curriculum'
),

steps as (
    select {{ numbers_to('recipe.step_count - 1', first=0) }} as step
    from recipe
),

strata as (
    select
        stratum,
        {{ mean_in_order('pass_ratio', ['draw']) }} as pass_ratio
    from tasks
    group by stratum
),

distances as (
    select
        strata.stratum,
        steps.step,
        (
            strata.pass_ratio - recipe.mean_from
            - (recipe.mean_to - recipe.mean_from) * steps.step / recipe.last_step
        ) / recipe.spread as distance
    from strata
    cross join steps
    cross join recipe
),

curves as (
    select
        stratum,
        {{ sum_in_order('exp(-distance * distance / 2)', ['step']) }} as weight
    from distances
    group by stratum
)

select * from curves
