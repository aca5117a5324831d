-- how many tasks of each slice there may be, so that the slices have their shares
with

shares as (
    select * from {{ ref('stg_recipe_shares') }}
    where kind = 'slice'
),

-- the slices that the recipe does not name share the rest
shared as (
    select
        name,
        share
    from shares
    union all
    select
        null as name,
        1 - sum(share) as share
    from shares
    having sum(share) < 1 - 1e-9
),

counted as (
    select
        share_name,
        count(*) as task_count
    from {{ ref('int_target_picks') }}
    group by share_name
),

wanted as (
    select
        shared.name,
        shared.share,
        coalesce(counted.task_count, 0) as task_count
    from shared
    left join counted on shared.name is not distinct from counted.share_name
),

sizes as (
    select
        min(case when share > 0 then task_count / share end) as fillable_count,
        sum(task_count) as total_count
    from wanted
),

-- a little more, because 0.3 * 10 may be just below 3
quotas as (
    select
        wanted.name,
        least(sizes.fillable_count, coalesce(recipe.at_most, sizes.total_count))
            as size,
        floor(size * wanted.share + 1e-7) as quota
    from wanted
    cross join sizes
    cross join {{ ref('stg_recipes') }} as recipe
)

select * from quotas
