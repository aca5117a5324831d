with

rollouts as (
    select * from {{ ref('int_scored_rollouts') }}
    where output_tokens is not null
),

means as (
    select
        run_id,
        agent_name,
        task_index,
        count(*) as rollout_count,
        {{ mean_in_order('reward', ['place']) }} as reward_mean,
        {{ mean_in_order('output_tokens', ['place']) }} as tokens_mean,
        min(reward) as reward_min,
        max(reward) as reward_max,
        min(output_tokens) as tokens_min,
        max(output_tokens) as tokens_max,
        {{ mean_in_order('case when is_pass then output_tokens end', ['place']) }}
            as passing_tokens_mean,
        {{ mean_in_order('case when not is_pass then output_tokens end', ['place']) }}
            as failing_tokens_mean
    from rollouts
    group by
        run_id,
        agent_name,
        task_index
),

-- exactly 0 where a side does not vary, whatever rounding made of its mean
deviations as (
    select
        run_id,
        agent_name,
        task_index,
        rollouts.place,
        case
            when means.reward_min = means.reward_max then 0e0
            else rollouts.reward - means.reward_mean
        end as reward_deviation,
        case
            when means.tokens_min = means.tokens_max then 0e0
            else rollouts.output_tokens - means.tokens_mean
        end as tokens_deviation
    from rollouts
    inner join means using (run_id, agent_name, task_index)
),

sums as (
    select
        run_id,
        agent_name,
        task_index,
        {{ sum_in_order('reward_deviation * reward_deviation', ['place']) }}
            as reward_squares,
        {{ sum_in_order('tokens_deviation * tokens_deviation', ['place']) }}
            as tokens_squares,
        {{ sum_in_order('reward_deviation * tokens_deviation', ['place']) }} as products
    from deviations
    group by
        run_id,
        agent_name,
        task_index
),

length_stats as (
    select
        means.*,
        sums.reward_squares,
        sums.tokens_squares,
        sums.products
    from means
    inner join sums using (run_id, agent_name, task_index)
)

select * from length_stats
