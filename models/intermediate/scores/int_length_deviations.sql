with

tasks as (
    select
        keys.run_id,
        keys.agent_name,
        lengths.*
    from {{ ref('int_task_length_stats') }} as lengths
    inner join {{ ref('int_task_keys') }} as keys using (task_key)
),

centers as (
    select
        run_id,
        agent_name,
        {{ sum_in_order('rollout_count * reward_mean', ['task_key']) }}
        / sum(rollout_count) as reward_center,
        {{ sum_in_order('rollout_count * tokens_mean', ['task_key']) }}
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
parts as (
    select
        *,
        products + rollout_count * reward_offset * tokens_offset as pooled_products,
        reward_squares + rollout_count * reward_offset * reward_offset
            as pooled_reward_squares,
        tokens_squares + rollout_count * tokens_offset * tokens_offset
            as pooled_tokens_squares,
        case
            when passing_tokens_mean is not null then failing_tokens_mean
        end as mixed_failing_tokens,
        case
            when failing_tokens_mean is not null then passing_tokens_mean
        end as mixed_passing_tokens,
        passing_tokens_mean - failing_tokens_mean as gap
    from offsets
)

select * from parts
