with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
    where is_measured
),

repeated_responses as (
    select
        run_id,
        agent_name,
        task_index,
        response_hash
    from rollouts
    where response_hash is not null and not is_output_empty
    group by
        run_id,
        agent_name,
        task_index,
        response_hash
    having count(*) > 1
),

-- tasks that no rollout passes although nearly all answers are the same
suspect_tasks as (
    select distinct
        answers.run_id,
        answers.agent_name,
        answers.task_index
    from {{ ref('int_task_outcomes') }} as outcomes
    inner join {{ ref('int_answer_groups') }} as answers
        using (run_id, agent_name, task_index)
    where outcomes.pass_count = 0 and answers.is_agreed
),

health as (
    select
        rollouts.run_id,
        rollouts.task_index,
        rollouts.rollout_index,
        rollouts.agent_name,
        rollouts.reward,
        faults.is_passing,
        rollouts.answer,
        rollouts.is_output_empty,
        rollouts.is_truncated,
        not rollouts.has_usage as is_usage_missing,
        repeated_responses.run_id is not null as is_response_repeated,
        coalesce(answers.has_several_rewards, false) as is_verdict_inconsistent,
        suspect_tasks.run_id is not null as is_ground_truth_suspect,
        faults.is_reward_contradicted,
        faults.is_tool_call_open,
        faults.is_final_answer_empty,
        faults.is_turn_limit_reached,
        rollouts.failure_kind is not null as is_failure_reported,
        verdicts.verdict as gym_verdict,
        verdicts.checks as gym_findings,
        cast(rollouts.is_output_empty as integer)
        + cast(rollouts.is_truncated as integer) + cast(is_usage_missing as integer)
        -- the same correct answer again is what one expects of an easy task
        + cast(is_response_repeated and not faults.is_passing as integer)
        + cast(is_verdict_inconsistent as integer)
        + cast(is_ground_truth_suspect as integer)
        + cast(faults.is_reward_contradicted as integer)
        + cast(faults.is_tool_call_open as integer)
        + cast(faults.is_final_answer_empty as integer)
        + cast(faults.is_turn_limit_reached as integer)
        + cast(rollouts.failure_kind is not null as integer) as finding_count
    from rollouts
    inner join {{ ref('int_rollout_faults') }} as faults
        using (run_id, task_index, rollout_index)
    left join repeated_responses using (run_id, agent_name, task_index, response_hash)
    left join {{ ref('int_answer_groups') }} as answers
        using (run_id, agent_name, task_index, answer)
    left join suspect_tasks using (run_id, agent_name, task_index)
    left join {{ ref('stg_verdicts') }} as verdicts
        using (run_id, task_index, rollout_index)
)

select * from health
