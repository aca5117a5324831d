with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
),

infos as (
    select
        run_id,
        task_index,
        rollout_index,
        task_index || ':' || rollout_index as rollout_id,
        agent_name,
        agent_ref_name,
        is_measured,
        failure_kind,
        failure_reason,
        reward,
        try_cast(round(input_tokens) as bigint) as input_tokens,
        try_cast(round(output_tokens) as bigint) as output_tokens,
        try_cast(round(total_tokens) as bigint) as total_tokens,
        try_cast(round(cached_tokens) as bigint) as cached_tokens,
        try_cast(round(reasoning_tokens) as bigint) as reasoning_tokens,
        try_cast(round(turn_count) as bigint) as turn_count,
        try_cast(round(tool_call_count) as bigint) as tool_call_count,
        latency_ms,
        model_name,
        cost,
        cast(response_hash as string) as response_hash,
        info
    from rollouts
)

select * from infos
