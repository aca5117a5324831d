{%- set in_order = values_in_order('value', ['task_index']) -%}
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
        {{ in_order }} as metric_values,
        {{ list_mean(in_order) }} as value_mean
    from {{ ref('int_rollout_metrics') }}
    where is_usable
    group by
        run_id,
        agent_name,
        rollout_index,
        metric
),

spread as (
    select
        grouped.*,
        repeats.sample_count,
        repeats.missing_count,
        {{ group_std(
            'grouped.metric_values', 'grouped.value_mean', 'grouped.value_count'
        ) }} as value_std,
        {{ t_quantile('quantiles.quantile', '(grouped.value_count - 1)') }} as t
    from grouped
    inner join {{ ref('int_repeats') }} as repeats
        using (run_id, agent_name, rollout_index)
    left join {{ ref('t_quantiles') }} as quantiles
        on grouped.value_count - 1 = quantiles.degrees_of_freedom
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
        {{ finite('value_std / sqrt(value_count)') }} as value_sem,
        value_min,
        value_max,
        {{ finite('value_p25') }} as value_p25,
        {{ finite('value_p75') }} as value_p75,
        {{ t_bound('value_mean', 'value_std', 'value_count', 't', '-') }}
            as value_ci_low_95,
        {{ t_bound('value_mean', 'value_std', 'value_count', 't', '+') }}
            as value_ci_high_95
    from spread
)

select * from metrics
