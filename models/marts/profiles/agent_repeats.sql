with

-- the batch's rows only: the mart holds every run
grouped as (
    select
        run_id,
        agent_name,
        metric,
        count(*) as repeat_count,
        min(value_mean) as mean_min,
        max(value_mean) as mean_max,
        {{ median('value_mean') }} as mean_median,
        {{ values_in_order('value_mean', ['rollout_index']) }} as means
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
        *,
        {{ list_mean('means') }} as mean_mean
    from grouped
),

spread as (
    select
        centered.*,
        case
            when centered.repeat_count = 1 then 0e0
            else {{ sample_std('centered.means', 'centered.mean_mean') }}
        end as mean_std,
        {{ t_quantile('quantiles.quantile', '(centered.repeat_count - 1)') }} as t
    from centered
    left join {{ ref('t_quantiles') }} as quantiles
        on centered.repeat_count - 1 = quantiles.degrees_of_freedom
),

errors as (
    select
        *,
        mean_std / sqrt(repeat_count) as mean_se
    from spread
),

repeats as (
    select
        run_id,
        agent_name,
        metric,
        repeat_count,
        {{ finite('mean_mean') }} as mean_mean,
        {{ finite('mean_median') }} as mean_median,
        {{ finite('mean_std') }} as mean_std,
        mean_min,
        mean_max,
        {{ finite('mean_se') }} as mean_se,
        case when repeat_count > 1 then {{ finite('mean_mean - t * mean_se') }} end
            as mean_ci_low_95,
        case when repeat_count > 1 then {{ finite('mean_mean + t * mean_se') }} end
            as mean_ci_high_95
    from errors
)

select * from repeats
