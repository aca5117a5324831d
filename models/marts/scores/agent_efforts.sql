with

rollouts as (
    select
        rollouts.*,
        rollouts.reward >= runs.pass_threshold as is_pass
    from {{ ref('int_rollouts_matched') }} as rollouts
    inner join {{ ref('stg_runs') }} as runs using (run_id)
    where rollouts.is_measured
),

-- times and costs are not whole numbers: their sums depend on the order
summed as (
    select
        run_id,
        agent_name,
        count(*) as rollout_count,
        count(case when is_pass then 1 end) as pass_count,
        count(cost) as priced_rollout_count,
        avg(cached_tokens) as cached_tokens_mean,
        avg(reasoning_tokens) as reasoning_tokens_mean,
        avg(turn_count) as turn_count_mean,
        avg(tool_call_count) as tool_call_count_mean,
        {{ mean_in_order('latency_ms', ['task_index', 'rollout_index']) }}
            as latency_ms_mean,
        case
            when count(cost) > 0
                then {{ finite(sum_in_order('cost', ['task_index', 'rollout_index'])) }}
        end as cost_sum
    from rollouts
    group by
        run_id,
        agent_name
),

-- a total over only some of the rollouts would look too cheap
efforts as (
    select
        run_id,
        agent_name,
        rollout_count,
        pass_count,
        turn_count_mean,
        tool_call_count_mean,
        latency_ms_mean,
        cached_tokens_mean,
        reasoning_tokens_mean,
        priced_rollout_count,
        cost_sum / priced_rollout_count as cost_mean,
        case when priced_rollout_count = rollout_count then cost_sum end as cost_total,
        case
            when priced_rollout_count = rollout_count
                then cost_sum / nullif(pass_count, 0)
        end as cost_per_pass
    from summed
)

select * from efforts
