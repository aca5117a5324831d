with

scores as (
    select
        run_id,
        agent_name,
        max(case when score = 'mean_reward' then task_count end) as task_count,
        max(case when score = 'mean_reward' then value end) as reward_mean,
        max(case when score = 'mean_reward' then low end) as reward_low,
        max(case when score = 'mean_reward' then high end) as reward_high,
        max(case when score = 'pass_rate' then value end) as pass_rate,
        max(case when score = 'pass_at_k' then value end) as pass_at_k,
        max(case when score = 'pass_at_k' then k end) as k
    from {{ ref('agent_scores') }}
    where slice_by = 'all'
    group by
        run_id,
        agent_name
),

-- an agent without any reward still has tasks
profiles as (
    select
        run_id,
        agent_name,
        count(*) as task_count
    from {{ ref('task_profiles') }}
    group by
        run_id,
        agent_name
),

overviews as (
    select
        runs.run_id,
        agents.agent_name,
        runs.model_names,
        runs.environment_names,
        runs.sampling,
        runs.made_with,
        runs.tags,
        runs.collection_started_at,
        runs.collection_ended_at,
        agents.expected_task_count,
        -- an older profile does not know the tasks that the agent was to try
        agents.expected_rollout_count
        / nullif(coalesce(agents.expected_task_count, scores.task_count), 0)
            as repeat_count_mean,
        coalesce(scores.task_count, profiles.task_count, runs.task_count) as task_count,
        coalesce(agents.expected_rollout_count, 0) as expected_rollout_count,
        coalesce(agents.completed_rollout_count, 0) as completed_rollout_count,
        coalesce(agents.missing_rollout_count, 0) as missing_rollout_count,
        coalesce(agents.masked_rollout_count, 0) as masked_rollout_count,
        coalesce(agents.failed_attempt_count, 0) as failed_attempt_count,
        agents.completion_pct,
        agents.clean_ratio,
        scores.reward_mean,
        scores.reward_low,
        scores.reward_high,
        scores.pass_rate,
        scores.pass_at_k,
        scores.k,
        tokens.value_mean as total_tokens_mean,
        runs.rollouts_path,
        runs.inputs_path,
        runs.profiled_at
    from {{ ref('runs') }} as runs
    left join {{ ref('agent_reliability') }} as agents using (run_id)
    left join scores using (run_id, agent_name)
    left join profiles using (run_id, agent_name)
    left join {{ ref('agent_metrics') }} as tokens
        on agents.run_id = tokens.run_id
        and agents.agent_name = tokens.agent_name
        and tokens.metric = 'total_tokens'
)

select * from overviews
