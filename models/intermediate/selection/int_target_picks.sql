with

recipe as (
    select * from {{ ref('stg_recipes') }}
),

filled as (
    select
        shares.stratum,
        sum(least(shares.task_count, sizes.size * shares.share)) over (
            order by shares.stratum
        ) as running_count
    from {{ ref('int_stratum_shares') }} as shares
    cross join {{ ref('int_target_sizes') }} as sizes
),

-- how many tasks of each stratum there may be; rounded running sums add up
quotas as (
    select
        stratum,
        round(running_count)
        - coalesce(lag(round(running_count)) over (order by stratum), 0) as quota
    from filled
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
    left join quotas using (stratum)
    where (recipe.target is null and recipe.task_order != 'curriculum')
        or ranked.stratum_place <= quotas.quota
)

select * from picks
