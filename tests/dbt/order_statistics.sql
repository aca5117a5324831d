-- min ≤ median ≤ max, and no standard deviation is negative.
with

described as (
    select
        run_id,
        metric,
        value_min,
        value_median,
        value_max,
        value_std
    from {{ ref('task_metrics') }}
    union all
    select
        run_id,
        metric,
        value_min,
        value_median,
        value_max,
        value_std
    from {{ ref('agent_metrics') }}
)

select *
from described
where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    and (
        coalesce(
            value_min <= value_median and value_median <= value_max,
            value_min <= value_max
        )
        and coalesce(value_std >= 0, true)
    ) is not true
