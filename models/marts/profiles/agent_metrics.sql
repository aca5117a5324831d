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

values_by_agent as (
    select
        run_id,
        agent_name,
        metric,
        count(*) as value_count,
        {{ mean_in_order('value', ['task_index', 'rollout_index']) }} as value_mean,
        max(value) as value_max,
        min(value) as value_min,
        {{ finite(median('value')) }} as value_median,
        {{ std_in_order('value', ['task_index', 'rollout_index']) }} as value_std
    from {{ ref('int_rollout_metrics') }}
    where is_usable
    group by
        run_id,
        agent_name,
        metric
),

-- a group of one rollout has a deviation of 0; one value of a larger group has none
metrics as (
    select
        values_by_agent.run_id,
        values_by_agent.agent_name,
        values_by_agent.metric,
        values_by_agent.value_count,
        values_by_agent.value_mean,
        values_by_agent.value_max,
        values_by_agent.value_min,
        values_by_agent.value_median,
        case
            when agents.measured_count = 1 then 0e0
            else values_by_agent.value_std
        end as value_std
    from values_by_agent
    inner join agents using (run_id, agent_name)
)

select * from metrics
