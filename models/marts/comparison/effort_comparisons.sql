with

groups as (
    select
        groups.*,
        pairs.run_id,
        pairs.baseline_run_id,
        pairs.agent_name,
        pairs.baseline_agent_name,
        quantiles.quantile as t
    from {{ ref('int_effort_groups') }} as groups
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    left join {{ ref('int_t_quantiles') }} as quantiles
        on pairs.alpha = quantiles.alpha and groups.task_count - 1 = quantiles.degrees
),

-- per pass there is one figure a run: only the ratio has an interval
comparisons as (
    select
        run_id,
        baseline_run_id,
        agent_name,
        baseline_agent_name,
        measure,
        unit,
        task_count,
        baseline_value,
        value,
        value - baseline_value as difference,
        case when unit = 'rollout' then std_error end as std_error,
        case when unit = 'rollout' then difference - t * std_error end as low,
        case when unit = 'rollout' then difference + t * std_error end as high,
        exp(log_ratio) as ratio,
        exp(log_ratio - t * log_std_error) as ratio_low,
        exp(log_ratio + t * log_std_error) as ratio_high
    from groups
)

select * from comparisons
