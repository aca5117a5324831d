with

-- repeated responses and missing usage do not make a transcript worse to learn from
usable as (
    select
        rollouts.run_id,
        rollouts.task_index,
        rollouts.agent_name,
        rollouts.rollout_index,
        rollouts.reward,
        rollouts.output_tokens,
        runs.pass_threshold
    from {{ ref('rollout_infos') }} as rollouts
    inner join {{ ref('rollout_health') }} as health
        using (run_id, task_index, rollout_index)
    inner join {{ ref('runs') }} as runs using (run_id)
    where rollouts.reward is not null
        and not health.is_output_empty
        and not health.is_truncated
        and not health.is_verdict_inconsistent
        and not health.is_ground_truth_suspect
        and coalesce(health.gym_verdict, '') <> 'unhealthy'
),

ranked as (
    select
        usable.*,
        row_number() over (
            partition by run_id, task_index, agent_name
            order by reward desc, output_tokens asc nulls last, rollout_index asc
        ) as best_place,
        row_number() over (
            partition by run_id, task_index, agent_name
            order by reward asc, output_tokens asc nulls last, rollout_index asc
        ) as worst_place
    from usable
),

pairs as (
    select
        run_id,
        task_index,
        agent_name,
        count(*) as usable_rollout_count,
        max(case when best_place = 1 then rollout_index end) as best_rollout_index,
        max(reward) as best_reward,
        max(case when best_place = 1 then output_tokens end) as best_output_tokens,
        max(reward) >= max(pass_threshold) as is_best_pass,
        max(case when worst_place = 1 then rollout_index end) as worst_rollout_index,
        min(reward) as worst_reward,
        max(case when worst_place = 1 then output_tokens end) as worst_output_tokens,
        min(reward) >= max(pass_threshold) as is_worst_pass,
        {{ finite('max(reward) - min(reward)') }} as reward_difference
    from ranked
    group by
        run_id,
        task_index,
        agent_name
)

select * from pairs
