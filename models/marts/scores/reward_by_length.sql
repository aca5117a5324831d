{%- set order = ['task_index'] -%}
with

tasks as (
    select
        *,
        passing_tokens_mean - failing_tokens_mean as gap,
        case when failing_tokens_mean is not null then passing_tokens_mean end
            as mixed_passing_tokens,
        case when passing_tokens_mean is not null then failing_tokens_mean end
            as mixed_failing_tokens
    from {{ ref('int_task_length_stats') }}
),

centers as (
    select
        run_id,
        agent_name,
        {{ sum_in_order('rollout_count * reward_mean', order) }}
        / sum(rollout_count) as reward_center,
        {{ sum_in_order('rollout_count * tokens_mean', order) }}
        / sum(rollout_count) as tokens_center
    from tasks
    group by
        run_id,
        agent_name
),

offsets as (
    select
        tasks.*,
        tasks.reward_mean - centers.reward_center as reward_offset,
        tasks.tokens_mean - centers.tokens_center as tokens_offset
    from tasks
    inner join centers using (run_id, agent_name)
),

-- pooled sums: deviations from the task's mean, plus those of the task's mean
agents as (
    select
        run_id,
        agent_name,
        cast(sum(rollout_count) as bigint) as rollout_count,
        count(*) as task_count,
        count(gap) as mixed_task_count,
        min(reward_min) < max(reward_max) and min(tokens_min) < max(tokens_max)
            as is_varied,
        {{ sum_in_order('products', order) }} as within_products,
        {{ sum_in_order('reward_squares', order) }} as within_reward,
        {{ sum_in_order('tokens_squares', order) }} as within_tokens,
        {{ sum_in_order(
            'products + rollout_count * reward_offset * tokens_offset', order
        ) }} as pooled_products,
        {{ sum_in_order(
            'reward_squares + rollout_count * reward_offset * reward_offset', order
        ) }} as pooled_reward,
        {{ sum_in_order(
            'tokens_squares + rollout_count * tokens_offset * tokens_offset', order
        ) }} as pooled_tokens,
        {{ mean_in_order('mixed_passing_tokens', order) }}
            as passing_tokens_mean,
        {{ mean_in_order('mixed_failing_tokens', order) }}
            as failing_tokens_mean,
        {{ mean_in_order('gap', order) }} as length_gap,
        {{ error_in_order('gap', order) }} as length_gap_std_error
    from offsets
    group by
        run_id,
        agent_name
),

lengths as (
    select
        run_id,
        agent_name,
        rollout_count,
        task_count,
        case
            when is_varied
                then {{ correlation(
                    'pooled_products', 'pooled_reward', 'pooled_tokens'
                ) }}
        end as pooled_correlation,
        {{ correlation('within_products', 'within_reward', 'within_tokens') }}
            as within_task_correlation,
        mixed_task_count,
        passing_tokens_mean,
        failing_tokens_mean,
        length_gap,
        length_gap_std_error
    from agents
)

select * from lengths
