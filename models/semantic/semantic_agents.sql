with

agents as (
    select * from {{ ref('agent_reliability') }}
),

runs as (
    select * from {{ ref('runs') }}
),

run_agents as (
    select
        agents.run_id,
        agents.agent_name,
        runs.profiled_at,
        agents.expected_rollout_count,
        agents.completed_rollout_count,
        agents.masked_rollout_count,
        agents.clean_rollout_count
    from agents
    inner join runs using (run_id)
)

select * from run_agents
