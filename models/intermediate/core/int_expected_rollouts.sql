with

keyed as (
    select
        rollouts.*,
        labels.agent_name
    from {{ ref('int_rollouts_keyed') }} as rollouts
    left join {{ ref('int_agent_labels') }} as labels using (run_id, runner)
),

-- the agent of a missing rollout whose input names none: that of the task's others
task_agents as (
    select
        run_id,
        task_index,
        min(agent_name) as agent_name
    from keyed
    group by
        run_id,
        task_index
),

-- the last failed attempt; without numbers of attempts, always the same one
failures as (
    select
        *,
        count(*) over (partition by run_id, task_index, rollout_index) as attempt_count
    from {{ ref('stg_failures') }}
    where is_readable
    qualify
        row_number() over (
            partition by run_id, task_index, rollout_index
            order by
                attempt desc,
                concat_ws(' ', failure_class, given_class) asc,
                reward asc nulls last
        ) = 1
),

expected as (
    select
        keyed.run_id,
        keyed.task_index,
        keyed.rollout_index,
        coalesce(keyed.agent_name, task_agents.agent_name, '(unknown)') as agent_name,
        keyed.is_completed,
        keyed.is_measured,
        keyed.is_masked,
        keyed.is_scored,
        coalesce(failures.attempt_count, 0) as failed_attempt_count,
        not keyed.is_completed and case
            when failures.failure_class is null then runs.is_missing_zero
            else array_contains(runs.zero_classes, failures.failure_class)
                or coalesce(
                    array_contains(runs.zero_classes, failures.given_class), false
                )
        end as is_zero,
        failures.reward as last_failure_reward
    from keyed
    inner join {{ ref('stg_runs') }} as runs using (run_id)
    inner join task_agents using (run_id, task_index)
    left join failures using (run_id, task_index, rollout_index)
)

select * from expected
