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
        input_tokens,
        output_tokens,
        total_tokens,
        cached_tokens,
        reasoning_tokens,
        turn_count,
        tool_call_count,
        latency_ms,
        model_name,
        cost,
        cast(response_hash as varchar) as response_hash,
        info
    from rollouts
)

select * from infos
