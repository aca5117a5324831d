-- which part of the selection each stratum of pass rates should be
with

recipe as (
    select
        *,
        case when task_order = 'curriculum' then task_order else target end as shape
    from {{ ref('int_recipe') }}
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

measured as (
    select
        strata.*,
        recipe.shape,
        (strata.pass_ratio - recipe.target_mean) / recipe.target_std as distance
    from strata
    cross join recipe
    where recipe.shape is not null
),

weighted as (
    select
        measured.stratum,
        measured.task_count,
        case measured.shape
            when 'gaussian' then exp(-measured.distance * measured.distance / 2)
            when 'uniform' then 1e0
            when 'weights' then coalesce(shares.share, 0e0)
            when 'curriculum' then curves.weight
        end as weight
    from measured
    left join {{ ref('int_curriculum_curves') }} as curves using (stratum)
    left join {{ ref('int_recipe_shares') }} as shares
        on shares.kind = 'band' and measured.stratum = shares.name
),

shared as (
    select
        stratum,
        task_count,
        weight / nullif(sum(weight) over (), 0) as share
    from weighted
)

select * from shared
