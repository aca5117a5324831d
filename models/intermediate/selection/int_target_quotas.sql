-- how many tasks of each stratum there may be; rounded running sums add up
with

filled as (
    select
        strata.stratum,
        strata.share,
        strata.task_count,
        sum(least(strata.task_count, scales.scale * strata.share)) over (
            order by strata.stratum
        ) as running_count
    from {{ ref('int_target_strata') }} as strata
    cross join {{ ref('int_target_scales') }} as scales
),

quotas as (
    select
        stratum,
        share,
        task_count,
        round(running_count)
        - coalesce(lag(round(running_count)) over (order by stratum), 0) as quota
    from filled
)

select * from quotas
