-- Every place of a step wants a pass rate: the quantiles of a normal distribution
-- around the mean of the step. Places and tasks are matched in the order of their pass
-- rates.
with

picked as (
    select
        *,
        row_number() over (order by draw) as place,
        row_number() over (order by pass_ratio desc, draw asc) as difficulty_place,
        count(*) over () as task_count
    from {{ ref('int_picked_tasks') }}
),

stepped as (
    select
        picked.place,
        recipe.spread,
        recipe.mean_from,
        recipe.mean_to,
        least(recipe.steps, picked.task_count) as step_count,
        floor((picked.place - 1) * step_count / picked.task_count) as step
    from picked
    cross join {{ ref('stg_recipes') }} as recipe
    where recipe.task_order = 'curriculum'
),

quantiles as (
    select
        *,
        (row_number() over (partition by step order by place) - 0.5e0)
        / count(*) over (partition by step) as quantile,
        least(quantile, 1 - quantile) as tail
    from stepped
),

wanted as (
    select
        place,
        step,
        mean_from + (mean_to - mean_from) * step / greatest(step_count - 1, 1)
            as mean,
        spread * {{ upper_normal_quantile('tail') }} as distance,
        case when quantile > 0.5 then mean + distance else mean - distance end
            as pass_ratio
    from quantiles
),

places as (
    select
        cast(step as bigint) as step,
        row_number() over (order by pass_ratio desc, place asc) as difficulty_place
    from wanted
),

steps as (
    select
        picked.task_index,
        picked.agent_name,
        places.step
    from picked
    inner join places using (difficulty_place)
)

select * from steps
