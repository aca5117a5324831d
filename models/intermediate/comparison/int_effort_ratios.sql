{%- set measures = {
    'output_tokens': 'output_tokens_mean', 'total_tokens': 'total_tokens_mean',
    'turn_count': 'turn_count_mean', 'cost': 'cost_mean'
} -%}
with

tasks as (
    select * from {{ ref('int_compared_tasks') }}
    where is_common and baseline_rollout_count > 0 and rollout_count > 0
),

efforts as (
    {%- for measure, mean in measures.items() %}
    select
        pair_key,
        task_id,
        occurrence,
        '{{ measure }}' as measure,
        baseline_{{ mean }} as baseline_value,
        {{ mean }} as value,
        baseline_{{ mean }} * baseline_rollout_count as baseline_sum,
        {{ mean }} * rollout_count as effort_sum,
        baseline_pass_count,
        pass_count
    from tasks
    where baseline_{{ mean }} > 0 and {{ mean }} > 0
    {{ 'union all' if not loop.last }}
    {%- endfor %}
),

totals as (
    select
        pair_key,
        measure,
        {{ mean_in_order('baseline_sum', ['task_id', 'occurrence']) }} as baseline_sum_mean,
        {{ mean_in_order('effort_sum', ['task_id', 'occurrence']) }} as effort_sum_mean,
        avg(1e0 * baseline_pass_count) as baseline_pass_mean,
        avg(1e0 * pass_count) as pass_mean
    from efforts
    group by
        pair_key,
        measure
),

-- per pass: how much each task moves the logarithm of the ratio of the totals
ratios as (
    select
        pair_key,
        task_id,
        occurrence,
        measure,
        'rollout' as unit,
        baseline_value,
        value,
        ln(value / baseline_value) as log_ratio
    from efforts
    union all
    select
        efforts.pair_key,
        efforts.task_id,
        efforts.occurrence,
        efforts.measure,
        'pass' as unit,
        totals.baseline_sum_mean / totals.baseline_pass_mean as baseline_value,
        totals.effort_sum_mean / totals.pass_mean as value,
        ln(totals.effort_sum_mean / totals.pass_mean)
        - ln(totals.baseline_sum_mean / totals.baseline_pass_mean)
        + efforts.effort_sum / totals.effort_sum_mean - efforts.pass_count / totals.pass_mean
        - efforts.baseline_sum / totals.baseline_sum_mean
        + efforts.baseline_pass_count / totals.baseline_pass_mean as log_ratio
    from efforts
    inner join totals using (pair_key, measure)
    where totals.baseline_pass_mean > 0 and totals.pass_mean > 0
)

select * from ratios
