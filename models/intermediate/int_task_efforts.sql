with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
    where is_measured
),

-- times and costs are not whole numbers: their sums depend on the order
efforts as (
    select
        run_id,
        task_index,
        agent_name,
        avg(cached_tokens) as cached_tokens_mean,
        avg(reasoning_tokens) as reasoning_tokens_mean,
        avg(turn_count) as turn_count_mean,
        avg(tool_call_count) as tool_call_count_mean,
        avg(latency_ms order by rollout_index) as latency_ms_mean,
        avg(cost order by rollout_index) as cost_mean
    from rollouts
    group by
        run_id,
        task_index,
        agent_name
)

select * from efforts
