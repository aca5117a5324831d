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
    select * from {{ ref('int_task_metrics') }}
    where metric = 'reward'
),

-- sums of numbers that need not be whole depend on their order
efforts as (
    select
        run_id,
        task_index,
        agent_name,
        {{ mean_in_order('input_tokens', ['rollout_index']) }} as input_tokens_mean,
        {{ mean_in_order('output_tokens', ['rollout_index']) }} as output_tokens_mean,
        {{ mean_in_order('total_tokens', ['rollout_index']) }} as total_tokens_mean,
        avg(cached_tokens) as cached_tokens_mean,
        avg(reasoning_tokens) as reasoning_tokens_mean,
        avg(turn_count) as turn_count_mean,
        avg(tool_call_count) as tool_call_count_mean,
        {{ mean_in_order('latency_ms', ['rollout_index']) }} as latency_ms_mean,
        {{ mean_in_order('cost', ['rollout_index']) }} as cost_mean
    from {{ ref('int_rollouts_matched') }}
    where is_measured
    group by
        run_id,
        task_index,
        agent_name
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
        rewards.value_mean as reward_mean,
        rewards.value_max as reward_max,
        rewards.value_min as reward_min,
        rewards.value_median as reward_median,
        rewards.value_std as reward_std,
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
