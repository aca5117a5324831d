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
    {% for measure, mean in measures.items() %}
        select
            task_key,
            pair_key,
            '{{ measure }}' as measure,
            baseline_{{ mean }} as baseline_value,
            {{ mean }} as value,
            baseline_{{ mean }} * baseline_rollout_count as baseline_sum,
            {{ mean }} * rollout_count as effort_sum,
            1e0 * baseline_pass_count as baseline_pass_count,
            1e0 * pass_count as pass_count
        from tasks
        where baseline_{{ mean }} > 0 and {{ mean }} > 0
        {{ 'union all' if not loop.last }}
    {% endfor %}
)

select * from efforts
