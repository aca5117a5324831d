with

keyed as (
    select * from {{ ref('int_rollouts_keyed') }}
    where is_completed
),

rollouts as (
    select * from {{ ref('stg_rollouts') }}
),

labels as (
    select * from {{ ref('int_agent_labels') }}
),

prices as (
    select * from {{ ref('stg_prices') }}
),

matched as (
    select
        rollouts.run_id,
        rollouts.task_index,
        rollouts.rollout_index,
        labels.agent_name,
        keyed.input_agent_name as agent_ref_name,
        rollouts.is_measured,
        rollouts.failure_kind,
        rollouts.failure_reason,
        rollouts.model_name,
        rollouts.reward,
        rollouts.input_tokens,
        rollouts.output_tokens,
        rollouts.total_tokens,
        rollouts.cached_tokens,
        rollouts.reasoning_tokens,
        rollouts.turn_count,
        rollouts.tool_call_count,
        rollouts.latency_ms,
        {{ finite(rollout_cost(
            'rollouts.input_tokens', 'rollouts.cached_tokens', 'rollouts.output_tokens',
            'prices.input', 'prices.cached_input', 'prices.output'
        )) }} as cost,
        rollouts.metrics,
        rollouts.info,
        rollouts.has_usage,
        rollouts.has_answer_field,
        rollouts.answer,
        rollouts.slice_values,
        rollouts.is_output_empty,
        rollouts.is_truncated,
        rollouts.open_call_count,
        rollouts.is_result_last,
        rollouts.is_final_answer_empty,
        rollouts.response_hash
    from rollouts
    inner join keyed using (run_id, task_index, rollout_index)
    inner join labels on keyed.run_id = labels.run_id and keyed.runner = labels.runner
    left join prices on rollouts.model_name = prices.model
)

select * from matched
