{%- set order = ['task_key'] -%}
with

-- sums of doubles depend on their order: the tasks are in the order of their contents
grouped as (
    select
        group_key,
        count(*) as task_count,
        max(value_range) as value_range,
        cast(sum(baseline_rollout_count) as bigint) as baseline_rollout_count,
        cast(sum(rollout_count) as bigint) as rollout_count,
        min(difference) as difference_min,
        max(difference) as difference_max,
        min(baseline_value) as baseline_min,
        max(baseline_value) as baseline_max,
        min(value) as value_min,
        max(value) as value_max,
        {{ values_in_order('difference', order) }} as differences,
        {{ values_in_order('baseline_value', order) }} as baseline_values,
        {{ values_in_order('value', order) }} as candidate_values
    from {{ ref('int_grouped_differences') }}
    where difference is not null
    group by group_key
),

centered as (
    select
        *,
        {{ list_mean('differences') }} as difference,
        {{ list_mean('baseline_values') }} as baseline_value,
        {{ list_mean('candidate_values') }} as value
    from grouped
),

errors as (
    select
        group_key,
        task_count,
        value_range,
        baseline_rollout_count,
        rollout_count,
        {{ finite('difference') }} as difference,
        {{ finite('baseline_value') }} as baseline_value,
        {{ finite('value') }} as value,
        {{ mean_std_error(
            'differences', 'difference', 'difference_min', 'difference_max'
        ) }}
            as std_error,
        {{ mean_std_error(
            'baseline_values', 'baseline_value', 'baseline_min', 'baseline_max'
        ) }}
            as baseline_std_error,
        {{ mean_std_error('candidate_values', 'value', 'value_min', 'value_max') }}
            as candidate_std_error
    from centered
)

select * from errors
