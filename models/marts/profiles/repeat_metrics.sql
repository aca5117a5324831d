with

grouped as (
    select
        run_id,
        agent_name,
        rollout_index,
        metric,
        count(*) as value_count,
        min(value) as value_min,
        max(value) as value_max,
        {{ median('value') }} as value_median,
        percentile_cont(0.25e0) within group (order by value) as value_p25,
        percentile_cont(0.75e0) within group (order by value) as value_p75,
        {{ values_in_order('value', ['task_index']) }} as metric_values
    from {{ ref('int_rollout_metrics') }}
    where is_usable
    group by
        run_id,
        agent_name,
        rollout_index,
        metric
),

centered as (
    select
        *,
        {{ list_mean('metric_values') }} as value_mean
    from grouped
),

spread as (
    select
        centered.*,
        repeats.sample_count,
        repeats.missing_count,
        case
            when centered.value_count = 1 then 0e0
            else {{ sample_std('centered.metric_values', 'centered.value_mean') }}
        end as value_std,
        {{ t_quantile('quantiles.quantile', '(centered.value_count - 1)') }} as t
    from centered
    inner join {{ ref('int_repeats') }} as repeats
        using (run_id, agent_name, rollout_index)
    left join {{ ref('t_quantiles') }} as quantiles
        on centered.value_count - 1 = quantiles.degrees_of_freedom
),

errors as (
    select
        *,
        value_std / sqrt(value_count) as value_sem
    from spread
),

metrics as (
    select
        run_id,
        agent_name,
        rollout_index,
        metric,
        sample_count,
        missing_count,
        value_count,
        {{ finite('value_mean') }} as value_mean,
        {{ finite('value_median') }} as value_median,
        {{ finite('value_std') }} as value_std,
        {{ finite('value_sem') }} as value_sem,
        value_min,
        value_max,
        {{ finite('value_p25') }} as value_p25,
        {{ finite('value_p75') }} as value_p75,
        case when value_count > 1 then {{ finite('value_mean - t * value_sem') }} end
            as value_ci_low_95,
        case when value_count > 1 then {{ finite('value_mean + t * value_sem') }} end
            as value_ci_high_95
    from errors
)

select * from metrics
