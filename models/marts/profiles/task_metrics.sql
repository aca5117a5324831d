-- sums of doubles depend on their order: a list in order gives the same bits every time
{%- set in_order = values_in_order('value', ['rollout_index']) %}
with

grouped as (
    select
        run_id,
        task_index,
        agent_name,
        metric,
        count(*) as value_count,
        max(value) as value_max,
        min(value) as value_min,
        {{ median('value') }} as value_median,
        {{ in_order }} as metric_values,
        {{ list_mean(in_order) }} as value_mean
    from {{ ref('int_rollout_metrics') }}
    where is_usable
    group by
        run_id,
        task_index,
        agent_name,
        metric
),

metrics as (
    select
        grouped.run_id,
        grouped.task_index,
        grouped.agent_name,
        grouped.metric,
        grouped.value_count,
        {{ finite('grouped.value_mean') }} as value_mean,
        grouped.value_max,
        grouped.value_min,
        {{ finite('grouped.value_median') }} as value_median,
        {{ group_std(
            'grouped.metric_values', 'grouped.value_mean', 'tasks.measured_count'
        ) }} as value_std
    from grouped
    inner join {{ ref('int_expected_tasks') }} as tasks
        using (run_id, task_index, agent_name)
)

select * from metrics
