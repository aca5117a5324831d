with

agents as (
    select
        run_id,
        agent_name,
        sum(measured_count) as measured_count
    from {{ ref('int_expected_tasks') }}
    group by
        run_id,
        agent_name
),

-- sums of doubles depend on their order: a list in order gives the same bits every time
grouped as (
    select
        run_id,
        agent_name,
        metric,
        count(*) as value_count,
        max(value) as value_max,
        min(value) as value_min,
        {{ median('value') }} as value_median,
        {{ values_in_order('value', ['task_index', 'rollout_index']) }} as metric_values
    from {{ ref('int_rollout_metrics') }}
    where is_usable
    group by
        run_id,
        agent_name,
        metric
),

centered as (
    select
        *,
        {{ list_mean('metric_values') }} as value_mean
    from grouped
),

-- one rollout has the deviation 0; a metric seen once in a larger group has none
metrics as (
    select
        centered.run_id,
        centered.agent_name,
        centered.metric,
        centered.value_count,
        {{ finite('centered.value_mean') }} as value_mean,
        centered.value_max,
        centered.value_min,
        {{ finite('centered.value_median') }} as value_median,
        case
            when agents.measured_count = 1 then 0e0
            else {{ sample_std('centered.metric_values', 'centered.value_mean') }}
        end as value_std
    from centered
    inner join agents using (run_id, agent_name)
)

select * from metrics
