with

agents as (
    select * from {{ ref('agent_reliability') }}
    where measured_rollout_count > 0
),

-- most runs have no masked rollouts, and need not be read
masked_runs as (
    select * from {{ ref('runs') }}
    where masked_rollout_count > 0
),

-- NeMo Gym counts masked rollouts under the agent's own name, not the server's
counted as (
    select
        infos.run_id,
        infos.agent_ref_name as agent_name,
        count(case when infos.is_measured then 1 end) as measured_rollout_count,
        count(case when not infos.is_measured then 1 end) as masked_rollout_count,
        count(distinct case when infos.is_measured then infos.task_index end)
            as measured_task_count,
        count(distinct infos.task_index) as task_count
    from {{ ref('rollout_infos') }} as infos
    inner join masked_runs using (run_id)
    where infos.agent_ref_name is not null
    group by
        infos.run_id,
        infos.agent_ref_name
    having count(case when not infos.is_measured then 1 end) > 0
),

coverage as (
    select
        coalesce(agents.run_id, counted.run_id) as run_id,
        coalesce(agents.agent_name, counted.agent_name) as agent_name,
        '"coverage/measured_rollouts":' || counted.measured_rollout_count
        || ',"coverage/masked_rollouts":' || counted.masked_rollout_count
        || ',"coverage/measured_tasks":' || counted.measured_task_count
        || ',"coverage/fully_masked_tasks":'
        || (counted.task_count - counted.measured_task_count) as members
    from agents
    full outer join counted using (run_id, agent_name)
)

select * from coverage
