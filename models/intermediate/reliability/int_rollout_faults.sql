with

-- an agent that stops in the middle only at the most turns has a limit of turns
rollouts as (
    select
        *,
        max(turn_count) over agent as most_turns,
        max(case when is_result_last then turn_count end) over agent
            as most_stopped_turns,
        min(case when is_result_last then turn_count end) over agent
            as least_stopped_turns
    from {{ ref('int_rollouts_matched') }}
    where is_measured
    window agent as (partition by run_id, agent_name)
),

-- what a verifier says besides the reward, in a field that is true or false
verdicts as (
    select
        run_id,
        task_index,
        rollout_index,
        min(value) as lowest,
        max(value) as highest
    from {{ ref('int_rollout_metrics') }}
    where
        metric in (
            'is_correct', 'correct', 'passed', 'is_passed', 'success', 'is_success',
            'successful', 'resolved', 'is_resolved', 'solved', 'is_solved'
        )
        and value in (0, 1)
    group by
        run_id,
        task_index,
        rollout_index
),

faults as (
    select
        rollouts.run_id,
        rollouts.task_index,
        rollouts.rollout_index,
        coalesce(rollouts.reward >= runs.pass_threshold, false) as is_passing,
        coalesce(
            (rollouts.reward >= runs.pass_threshold and verdicts.lowest = 0)
            or (rollouts.reward <= 0 and verdicts.highest = 1),
            false
        ) as is_reward_contradicted,
        rollouts.open_call_count > 0 as is_tool_call_open,
        rollouts.is_final_answer_empty,
        rollouts.is_result_last
        and rollouts.turn_count > 1
        and rollouts.most_turns = rollouts.most_stopped_turns
        and rollouts.most_turns = rollouts.least_stopped_turns as is_turn_limit_reached
    from rollouts
    inner join {{ ref('stg_runs') }} as runs using (run_id)
    left join verdicts using (run_id, task_index, rollout_index)
)

select * from faults
