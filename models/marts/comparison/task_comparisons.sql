with

tasks as (
    select
        tasks.*,
        1e0 * tasks.baseline_pass_count / nullif(tasks.baseline_rollout_count, 0)
            as baseline_pass_ratio,
        1e0 * tasks.pass_count / nullif(tasks.rollout_count, 0) as pass_ratio
    from {{ ref('int_compared_tasks') }} as tasks
),

comparisons as (
    select
        pairs.run_id,
        pairs.baseline_run_id,
        pairs.agent_name,
        pairs.baseline_agent_name,
        tasks.task_id,
        tasks.occurrence,
        tasks.baseline_task_index,
        tasks.task_index,
        case
            when tasks.baseline_task_index is null then 'only in candidate'
            when tasks.task_index is null then 'only in baseline'
            when
                tasks.baseline_pass_ratio is null or tasks.pass_ratio is null
                then 'unscored'
            when
                tasks.baseline_pass_count > 0 and tasks.pass_count = 0
                then 'newly failing'
            when
                tasks.baseline_pass_count = 0 and tasks.pass_count > 0
                then 'newly passing'
            when tasks.pass_ratio < tasks.baseline_pass_ratio then 'less often passing'
            when tasks.pass_ratio > tasks.baseline_pass_ratio then 'more often passing'
            else 'same'
        end as change,
        nullif(tasks.baseline_rollout_count, 0) as baseline_rollout_count,
        nullif(tasks.rollout_count, 0) as rollout_count,
        tasks.baseline_pass_ratio,
        tasks.pass_ratio,
        tasks.baseline_reward_mean,
        tasks.reward_mean,
        {{ finite('tasks.reward_mean - tasks.baseline_reward_mean') }} as difference,
        chances.rise_chance,
        greatest(chances.rise_chance, 1 - chances.rise_chance) as moved_chance,
        tasks.baseline_total_tokens_mean,
        tasks.total_tokens_mean
    from tasks
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    left join {{ ref('int_moved_chances') }} as chances
        on coalesce(pairs.is_same_rollouts, false) = false
        and tasks.baseline_pass_count = chances.baseline_pass_count
        and tasks.baseline_rollout_count = chances.baseline_rollout_count
        and tasks.pass_count = chances.pass_count
        and tasks.rollout_count = chances.rollout_count
)

select * from comparisons
