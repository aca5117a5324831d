with

values_by_repeat as (
    select
        run_id,
        agent_name,
        rollout_index,
        metric,
        count(*) as value_count,
        {{ mean_in_order('value', ['task_index']) }} as value_mean,
        {{ finite(median('value')) }} as value_median,
        case
            when count(*) = 1 then 0e0
            else {{ std_in_order('value', ['task_index']) }}
        end as value_std,
        min(value) as value_min,
        max(value) as value_max,
        percentile_cont(0.25e0) within group (order by value) as value_p25,
        percentile_cont(0.75e0) within group (order by value) as value_p75
    from {{ ref('int_rollout_metrics') }}
    where is_usable
    group by
        run_id,
        agent_name,
        rollout_index,
        metric
),

bounded as (
    select
        values_by_repeat.*,
        repeats.sample_count,
        repeats.missing_count,
        {{ t_quantile(
            'quantiles.quantile', '(values_by_repeat.value_count - 1)'
        ) }} as t
    from values_by_repeat
    inner join {{ ref('int_repeats') }} as repeats
        using (run_id, agent_name, rollout_index)
    left join {{ ref('t_quantiles') }} as quantiles
        on values_by_repeat.value_count - 1 = quantiles.degrees_of_freedom
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
        value_mean,
        value_median,
        value_std,
        {{ finite('value_std / sqrt(value_count)') }} as value_sem,
        value_min,
        value_max,
        {{ finite('value_p25') }} as value_p25,
        {{ finite('value_p75') }} as value_p75,
        {{ t_bound('value_mean', 'value_std', 'value_count', 't', '-') }}
            as value_ci_low_95,
        {{ t_bound('value_mean', 'value_std', 'value_count', 't', '+') }}
            as value_ci_high_95
    from bounded
)

select * from metrics
