with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
    where is_measured
),

agents as (
    select
        run_id,
        agent_name,
        count(distinct task_index) as task_count
    from rollouts
    group by
        run_id,
        agent_name
    having count(distinct rollout_index) > 1
),

-- a rollout's key is unique, so its repeat has as many tasks as rollouts
repeats as (
    select
        rollouts.run_id,
        rollouts.agent_name,
        rollouts.rollout_index,
        count(*) as sample_count,
        max(agents.task_count) - count(*) as missing_count
    from rollouts
    inner join agents on {{ same_key('rollouts', 'agents', ['run_id', 'agent_name']) }}
    group by
        rollouts.run_id,
        rollouts.agent_name,
        rollouts.rollout_index
)

select * from repeats
