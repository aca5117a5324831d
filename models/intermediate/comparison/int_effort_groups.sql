{%- set order = ['task_key'] -%}
with

grouped as (
    select
        pair_key,
        measure,
        unit,
        count(*) as task_count,
        min(log_ratio) as log_ratio_min,
        max(log_ratio) as log_ratio_max,
        min(value - baseline_value) as difference_min,
        max(value - baseline_value) as difference_max,
        {{ mean_in_order('baseline_value', order) }} as baseline_value,
        {{ mean_in_order('value', order) }} as value,
        {{ values_in_order('value - baseline_value', order) }} as differences,
        {{ values_in_order('log_ratio', order) }} as log_ratios
    from {{ ref('int_effort_ratios') }}
    group by
        pair_key,
        measure,
        unit
),

centered as (
    select
        *,
        {{ list_mean('differences') }} as difference,
        {{ list_mean('log_ratios') }} as log_ratio
    from grouped
),

errors as (
    select
        pair_key,
        measure,
        unit,
        task_count,
        baseline_value,
        value,
        difference,
        log_ratio,
        {{ mean_std_error(
            'differences', 'difference', 'difference_min', 'difference_max'
        ) }}
            as std_error,
        {{ mean_std_error(
            'log_ratios', 'log_ratio', 'log_ratio_min', 'log_ratio_max'
        ) }}
            as log_std_error
    from centered
)

select * from errors
