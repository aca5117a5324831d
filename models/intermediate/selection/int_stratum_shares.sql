-- which part of the selection each stratum of pass rates should be
with

recipe as (
    select
        *,
        case when task_order = 'curriculum' then task_order else target end as shape
    from {{ ref('stg_recipes') }}
),

strata as (
    select
        stratum,
        count(*) as task_count,
        {{ mean_in_order('pass_ratio', ['draw']) }} as pass_ratio
    from {{ ref('int_capped_tasks') }}
    where stratum is not null
    group by stratum
),

-- no step is without a task
curriculum as (
    select
        recipe.mean_from,
        recipe.mean_to,
        recipe.spread,
        least(recipe.steps, cast(sum(strata.task_count) as bigint)) as step_count,
        greatest(step_count - 1, 1) as last_step
    from recipe
    cross join strata
    where recipe.shape = 'curriculum'
    group by
        recipe.mean_from,
        recipe.mean_to,
        recipe.spread,
        recipe.steps
),

steps as (
    select
        *,
        {{ numbers_to('step_count - 1', first=0) }} as step
    from curriculum
),

distances as (
    select
        strata.stratum,
        steps.step,
        (
            strata.pass_ratio - steps.mean_from
            - (steps.mean_to - steps.mean_from) * steps.step / steps.last_step
        ) / steps.spread as distance
    from strata
    cross join steps
),

-- how much each stratum is wanted by all steps together
curves as (
    select
        stratum,
        {{ sum_in_order('exp(-distance * distance / 2)', ['step']) }} as weight
    from distances
    group by stratum
),

weighted as (
    select
        strata.stratum,
        strata.task_count,
        (strata.pass_ratio - recipe.target_mean) / recipe.target_std as distance,
        case recipe.shape
            when 'gaussian' then exp(-distance * distance / 2)
            when 'uniform' then 1e0
            when 'weights' then coalesce(shares.share, 0e0)
            when 'curriculum' then curves.weight
        end as weight
    from strata
    cross join recipe
    left join curves using (stratum)
    left join {{ ref('stg_recipe_shares') }} as shares
        on shares.kind = 'band' and strata.stratum = shares.name
    where recipe.shape is not null
),

shared as (
    select
        stratum,
        task_count,
        weight / nullif(sum(weight) over (), 0) as share
    from weighted
)

select * from shared
