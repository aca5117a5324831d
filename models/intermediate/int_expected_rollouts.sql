{%- set key = ['run_id', 'task_index', 'rollout_index'] -%}
with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
),

-- where a rollout is missing and its input names no agent, the task's others know
task_agents as (
    select
        run_id,
        task_index,
        min(agent_name) as agent_name
    from rollouts
    group by
        run_id,
        task_index
),

failures as (
    select
        run_id,
        task_index,
        rollout_index,
        count(*) as failed_attempt_count
    from {{ ref('stg_failures') }}
    where is_readable
    group by
        run_id,
        task_index,
        rollout_index
),

expected as (
    select
        inputs.run_id,
        inputs.task_index,
        inputs.rollout_index,
        coalesce(
            rollouts.agent_name, inputs.agent_name, task_agents.agent_name, '(unknown)'
        ) as agent_name,
        rollouts.run_id is not null as is_completed,
        rollouts.reward is not null as is_scored,
        coalesce(failures.failed_attempt_count, 0) as failed_attempt_count
    from {{ ref('stg_inputs') }} as inputs
    left join rollouts
        on {{ same_key('inputs', 'rollouts', key) }}
    left join task_agents
        on {{ same_key('inputs', 'task_agents', ['run_id', 'task_index']) }}
    left join failures
        on {{ same_key('inputs', 'failures', key) }}
)

select * from expected
