with

-- only the rows of the batch: the mart contains every run
means as (
    select
        run_id,
        agent_name,
        metric,
        count(*) as repeat_count,
        {{ list_in_order('value_mean', ['rollout_index']) }} as in_order
    from {{ ref('repeat_metrics') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
        and value_mean is not null
        and {{ is_primary_metric('metric') }}
    group by
        run_id,
        agent_name,
        metric
),

centered as (
    select
        means.*,
        {{ list_mean('means.in_order') }} as center,
        {{ t_quantile('quantiles.quantile', '(means.repeat_count - 1)') }} as t
    from means
    left join {{ ref('t_quantiles') }} as quantiles
        on means.repeat_count - 1 = quantiles.degrees_of_freedom
),

spread as (
    select
        *,
        coalesce({{ list_std('in_order', 'center') }}, 0.0) as std
    from centered
),

errors as (
    select
        *,
        std / sqrt(repeat_count) as error
    from spread
),

described as (
    select
        run_id,
        agent_name,
        metric,
        repeat_count,
        {{ finite('center') }} as mean_mean,
        {{ finite(list_median('in_order')) }} as mean_median,
        {{ finite('std') }} as mean_std,
        {{ list_min('in_order') }} as mean_min,
        {{ list_max('in_order') }} as mean_max,
        {{ finite('error') }} as mean_se,
        case when repeat_count > 1 then {{ finite('center - t * error') }} end
            as mean_ci_low_95,
        case when repeat_count > 1 then {{ finite('center + t * error') }} end
            as mean_ci_high_95
    from errors
)

select * from described
