with

recipe as (
    select * from {{ ref('stg_recipes') }}
),

quotas as (
    select * from {{ ref('int_share_quotas') }}
),

ranked as (
    select
        *,
        row_number() over (partition by share_name order by draw) as place
    from {{ ref('int_target_picks') }}
),

counted as (
    select count(*) as quota_count
    from quotas
),

-- without shares there are no quotas
shared as (
    select
        ranked.*,
        row_number() over (order by ranked.draw) as overall_place
    from ranked
    left join quotas on ranked.share_name is not distinct from quotas.name
    cross join counted
    where ranked.place <= quotas.quota or counted.quota_count = 0
),

picked as (
    select
        shared.task_index,
        shared.agent_name,
        shared.draw,
        shared.pass_ratio
    from shared
    cross join recipe
    where recipe.at_most is null or shared.overall_place <= recipe.at_most
)

select * from picked
