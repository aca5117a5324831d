with

-- a task whose rollouts are all missing has no row here: `runs` counts it as dropped
tasks as (
    select
        *,
        completed_count - measured_count as masked_count,
        rollout_count - completed_count as missing_count
    from {{ ref('int_expected_tasks') }}
    where completed_count > 0
),

metrics as (
    select
        run_id,
        task_index,
        agent_name,
        {{ wide_metrics() }}
    from {{ ref('task_metrics') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by
        run_id,
        task_index,
        agent_name
),

efforts as (
    select * from {{ ref('int_task_efforts') }}
),

profiles as (
    select
        tasks.run_id,
        tasks.task_index,
        tasks.agent_name,
        tasks.task_id,
        tasks.measured_count as num_rollouts,
        tasks.measured_count + tasks.missing_count as expected_num_rollouts,
        tasks.missing_count as missing_num_rollouts,
        tasks.masked_count as masked_num_rollouts,
        coalesce(
            100.0 * tasks.measured_count
            / nullif(tasks.measured_count + tasks.missing_count, 0),
            100.0
        ) as completion_pct,
        metrics.reward_mean,
        metrics.reward_max,
        metrics.reward_min,
        metrics.reward_median,
        metrics.reward_std,
        metrics.input_tokens_mean,
        metrics.output_tokens_mean,
        metrics.total_tokens_mean,
        efforts.cached_tokens_mean,
        efforts.reasoning_tokens_mean,
        efforts.turn_count_mean,
        efforts.tool_call_count_mean,
        efforts.latency_ms_mean,
        efforts.cost_mean,
        tasks.prompt,
        tasks.sample
    from tasks
    left join metrics
        on {{ same_key('tasks', 'metrics', ['run_id', 'task_index', 'agent_name']) }}
    left join efforts
        on {{ same_key('tasks', 'efforts', ['run_id', 'task_index', 'agent_name']) }}
)

select * from profiles
