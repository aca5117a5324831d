with

agents as (
    select
        run_id,
        agent_name,
        cast(sum(rollout_count) as bigint) as rollout_count,
        count(*) as task_count,
        count(gap) as mixed_task_count,
        min(reward_min) < max(reward_max) and min(tokens_min) < max(tokens_max)
            as is_varied,
        {{ sum_in_order('products', ['task_key']) }} as within_products,
        {{ sum_in_order('reward_squares', ['task_key']) }} as within_reward,
        {{ sum_in_order('tokens_squares', ['task_key']) }} as within_tokens,
        {{ sum_in_order('pooled_products', ['task_key']) }} as pooled_products,
        {{ sum_in_order('pooled_reward_squares', ['task_key']) }} as pooled_reward,
        {{ sum_in_order('pooled_tokens_squares', ['task_key']) }} as pooled_tokens,
        {{ sum_in_order('mixed_passing_tokens', ['task_key']) }} as passing_sum,
        {{ sum_in_order('mixed_failing_tokens', ['task_key']) }} as failing_sum,
        min(gap) as gap_min,
        max(gap) as gap_max,
        {{ list_where(values_in_order('gap', ['task_key']), 'gap', 'gap is not null') }}
            as gaps
    from {{ ref('int_length_deviations') }}
    group by
        run_id,
        agent_name
),

averaged as (
    select
        *,
        {{ list_mean('gaps') }} as gap_mean
    from agents
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
        {{ finite('passing_sum / nullif(mixed_task_count, 0)') }}
            as passing_tokens_mean,
        {{ finite('failing_sum / nullif(mixed_task_count, 0)') }}
            as failing_tokens_mean,
        {{ finite('gap_mean') }} as length_gap,
        {{ mean_std_error('gaps', 'gap_mean', 'gap_min', 'gap_max') }}
            as length_gap_std_error
    from averaged
)

select * from lengths
