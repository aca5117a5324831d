{%- set order = ['task_id', 'occurrence'] -%}
with

efforts as (
    {% for measure in ['output_tokens', 'total_tokens', 'turn_count', 'cost'] %}
        select
            pair_key,
            task_id,
            occurrence,
            '{{ measure }}' as measure,
            baseline_{{ measure }}_mean as baseline_value,
            {{ measure }}_mean as value,
            baseline_{{ measure }}_mean * baseline_rollout_count as baseline_sum,
            {{ measure }}_mean * rollout_count as effort_sum,
            1e0 * baseline_pass_count as baseline_pass_count,
            1e0 * pass_count as pass_count
        from {{ ref('int_compared_tasks') }}
        where is_common and baseline_rollout_count > 0 and rollout_count > 0
            and baseline_{{ measure }}_mean > 0 and {{ measure }}_mean > 0
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

totals as (
    select
        pair_key,
        measure,
        {{ mean_in_order('baseline_sum', order) }} as baseline_sum_mean,
        {{ mean_in_order('effort_sum', order) }} as effort_sum_mean,
        {{ mean_in_order('baseline_pass_count', order) }} as baseline_pass_mean,
        {{ mean_in_order('pass_count', order) }} as pass_mean
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
        + efforts.effort_sum / totals.effort_sum_mean
        - efforts.pass_count / totals.pass_mean
        - efforts.baseline_sum / totals.baseline_sum_mean
        + efforts.baseline_pass_count / totals.baseline_pass_mean as log_ratio
    from efforts
    inner join totals using (pair_key, measure)
    where totals.baseline_pass_mean > 0 and totals.pass_mean > 0
)

select * from ratios
