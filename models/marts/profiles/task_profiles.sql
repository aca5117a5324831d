with

-- a task whose rollouts are all missing has no row here: `runs` counts it as dropped
tasks as (
    select
        *,
        rollout_count - completed_count as missing_count
    from {{ ref('int_expected_tasks') }}
    where completed_count > 0
),

rewards as (
    select
        keys.run_id,
        keys.task_index,
        keys.agent_name,
        outcomes.*
    from {{ ref('int_task_outcomes') }} as outcomes
    inner join {{ ref('int_task_keys') }} as keys using (task_key)
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
        tasks.task_name,
        tasks.measured_count as measured_rollout_count,
        tasks.measured_count + tasks.missing_count as unmasked_rollout_count,
        tasks.missing_count as missing_rollout_count,
        tasks.masked_count as masked_rollout_count,
        coalesce(
            100e0 * tasks.measured_count
            / nullif(tasks.measured_count + tasks.missing_count, 0),
            100e0
        ) as completion_pct,
        {{ finite('rewards.reward_mean') }} as reward_mean,
        rewards.reward_max,
        rewards.reward_min,
        {{ finite('rewards.reward_median') }} as reward_median,
        {{ finite('rewards.reward_std') }} as reward_std,
        efforts.input_tokens_mean,
        efforts.output_tokens_mean,
        efforts.total_tokens_mean,
        efforts.cached_tokens_mean,
        efforts.reasoning_tokens_mean,
        efforts.turn_count_mean,
        efforts.tool_call_count_mean,
        efforts.latency_ms_mean,
        efforts.cost_mean,
        tasks.prompt,
        tasks.sample
    from tasks
    left join rewards using (run_id, task_index, agent_name)
    left join efforts using (run_id, task_index, agent_name)
)

select * from profiles
