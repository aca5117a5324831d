{%- set in_order = values_in_order('value_mean', ['rollout_index']) -%}
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
        {{ in_order }} as means,
        {{ list_mean(in_order) }} as mean_mean
    from {{ ref('repeat_metrics') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
        and value_mean is not null
        and {{ is_primary_metric('metric') }}
    group by
        run_id,
        agent_name,
        metric
),

spread as (
    select
        grouped.*,
        {{ group_std('grouped.means', 'grouped.mean_mean', 'grouped.repeat_count') }}
            as mean_std,
        {{ t_quantile('quantiles.quantile', '(grouped.repeat_count - 1)') }} as t
    from grouped
    left join {{ ref('t_quantiles') }} as quantiles
        on grouped.repeat_count - 1 = quantiles.degrees_of_freedom
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
        {{ finite('mean_std / sqrt(repeat_count)') }} as mean_se,
        {{ t_bound('mean_mean', 'mean_std', 'repeat_count', 't', '-') }}
            as mean_ci_low_95,
        {{ t_bound('mean_mean', 'mean_std', 'repeat_count', 't', '+') }}
            as mean_ci_high_95
    from spread
)

select * from repeats
