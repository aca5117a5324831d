with

-- sums of numbers that need not be whole depend on their order
efforts as (
    select
        run_id,
        task_index,
        agent_name,
        {{ finite(mean_in_order('input_tokens', ['rollout_index'])) }}
            as input_tokens_mean,
        {{ finite(mean_in_order('output_tokens', ['rollout_index'])) }}
            as output_tokens_mean,
        {{ finite(mean_in_order('total_tokens', ['rollout_index'])) }}
            as total_tokens_mean,
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
)

select * from efforts
