{%- set repeat = ['run_id', 'agent_name', 'rollout_index'] -%}
with

ordered as (
    select
        run_id,
        agent_name,
        rollout_index,
        metric,
        count(*) as value_count,
        {{ list_in_order('value', ['task_index']) }} as in_order,
        {{ quantile('value', [0.25, 0.75]) }} as quartiles
    from {{ ref('int_rollout_values') }}
    where is_usable
    group by
        run_id,
        agent_name,
        rollout_index,
        metric
),

centered as (
    select
        repeats.sample_count,
        repeats.missing_count,
        ordered.*,
        {{ list_mean('ordered.in_order') }} as center,
        {{ t_quantile('quantiles.quantile', '(ordered.value_count - 1)') }} as t
    from ordered
    inner join {{ ref('int_repeats') }} as repeats
        on {{ same_key('ordered', 'repeats', repeat) }}
    left join {{ ref('t_quantiles') }} as quantiles
        on ordered.value_count - 1 = quantiles.degrees_of_freedom
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
        std / sqrt(value_count) as error
    from spread
),

described as (
    select
        run_id,
        agent_name,
        rollout_index,
        metric,
        sample_count,
        missing_count,
        value_count,
        {{ finite('center') }} as value_mean,
        {{ finite(list_median('in_order')) }} as value_median,
        {{ finite('std') }} as value_std,
        {{ finite('error') }} as value_sem,
        {{ list_min('in_order') }} as value_min,
        {{ list_max('in_order') }} as value_max,
        {{ finite('quartiles[1]') }} as value_p25,
        {{ finite('quartiles[2]') }} as value_p75,
        case when value_count > 1 then {{ finite('center - t * error') }} end
            as value_ci_low_95,
        case when value_count > 1 then {{ finite('center + t * error') }} end
            as value_ci_high_95
    from errors
)

select * from described
