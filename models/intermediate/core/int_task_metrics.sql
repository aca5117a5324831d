with

values_by_task as (
    select
        run_id,
        task_index,
        agent_name,
        metric,
        count(*) as value_count,
        {{ mean_in_order('value', ['rollout_index']) }} as value_mean,
        max(value) as value_max,
        min(value) as value_min,
        {{ finite(median('value')) }} as value_median,
        {{ std_in_order('value', ['rollout_index']) }} as value_std
    from {{ ref('int_rollout_metrics') }}
    where is_usable
    group by
        run_id,
        task_index,
        agent_name,
        metric
),

-- a group of one rollout has a deviation of 0; one value of a larger group has none
metrics as (
    select
        values_by_task.run_id,
        values_by_task.task_index,
        values_by_task.agent_name,
        values_by_task.metric,
        values_by_task.value_count,
        values_by_task.value_mean,
        values_by_task.value_max,
        values_by_task.value_min,
        values_by_task.value_median,
        case
            when tasks.measured_count = 1 then 0e0
            else values_by_task.value_std
        end as value_std
    from values_by_task
    inner join {{ ref('int_expected_tasks') }} as tasks
        using (run_id, task_index, agent_name)
)

select * from metrics
