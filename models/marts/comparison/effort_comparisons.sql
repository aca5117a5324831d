{%- set order = ['task_id', 'occurrence'] -%}
with

efforts as (
    select
        pair_key,
        measure,
        unit,
        count(*) as task_count,
        {{ mean_in_order('baseline_value', order) }} as baseline_value,
        {{ mean_in_order('value', order) }} as value,
        {{ mean_in_order('value - baseline_value', order) }} as difference,
        {{ error_in_order('value - baseline_value', order) }} as std_error,
        {{ mean_in_order('log_ratio', order) }} as log_ratio,
        {{ error_in_order('log_ratio', order) }} as log_std_error
    from {{ ref('int_effort_ratios') }}
    group by
        pair_key,
        measure,
        unit
),

paired as (
    select
        efforts.*,
        pairs.run_id,
        pairs.baseline_run_id,
        pairs.agent_name,
        pairs.baseline_agent_name,
        pairs.alpha,
        pairs.z,
        cast(efforts.task_count - 1 as double) as degrees
    from efforts
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
),

{{ t_quantiles('paired') }},

-- per pass there is one figure a run: only the ratio has an interval
comparisons as (
    select
        paired.run_id,
        paired.baseline_run_id,
        paired.agent_name,
        paired.baseline_agent_name,
        paired.measure,
        paired.unit,
        paired.task_count,
        paired.baseline_value,
        paired.value,
        paired.value - paired.baseline_value as difference,
        case when paired.unit = 'rollout' then paired.std_error end as std_error,
        case
            when paired.unit = 'rollout'
                then paired.difference - quantiles.quantile * paired.std_error
        end as low,
        case
            when paired.unit = 'rollout'
                then paired.difference + quantiles.quantile * paired.std_error
        end as high,
        exp(paired.log_ratio) as ratio,
        exp(paired.log_ratio - quantiles.quantile * paired.log_std_error) as ratio_low,
        exp(paired.log_ratio + quantiles.quantile * paired.log_std_error) as ratio_high
    from paired
    left join quantiles using (alpha, degrees)
)

select * from comparisons
