with

recipe as (
    select * from {{ ref('int_recipe') }}
),

ranked as (
    select
        *,
        row_number() over (partition by stratum order by draw) as stratum_place
    from {{ ref('int_capped_tasks') }}
),

picks as (
    select
        ranked.task_index,
        ranked.agent_name,
        ranked.draw,
        ranked.pass_ratio,
        ranked.share_name
    from ranked
    cross join recipe
    left join {{ ref('int_target_quotas') }} as quotas using (stratum)
    where (recipe.target is null and recipe.task_order != 'curriculum')
        or ranked.stratum_place <= quotas.quota
)

select * from picks
