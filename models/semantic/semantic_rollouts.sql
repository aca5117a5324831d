with

rollouts as (
    select * from {{ ref('rollout_infos') }}
    where is_measured
),

tasks as (
    select * from {{ ref('semantic_tasks') }}
),

task_rollouts as (
    select
        rollouts.run_id,
        rollouts.task_index,
        rollouts.rollout_index,
        rollouts.agent_name,
        tasks.agent_task_id,
        tasks.profiled_at,
        rollouts.output_tokens,
        rollouts.total_tokens
    from rollouts
    inner join tasks using (run_id, task_index, agent_name)
)

select * from task_rollouts
