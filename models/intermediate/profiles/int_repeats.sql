with

tasks as (
    select
        run_id,
        agent_name,
        count(*) as task_count
    from {{ ref('int_expected_tasks') }}
    where measured_count > 0
    group by
        run_id,
        agent_name
),

counted as (
    select
        run_id,
        agent_name,
        rollout_index,
        count(*) as sample_count
    from {{ ref('int_rollouts_matched') }}
    where is_measured
    group by
        run_id,
        agent_name,
        rollout_index
    qualify count(*) over (partition by run_id, agent_name) > 1
),

repeats as (
    select
        counted.run_id,
        counted.agent_name,
        counted.rollout_index,
        counted.sample_count,
        tasks.task_count - counted.sample_count as missing_count
    from counted
    inner join tasks using (run_id, agent_name)
)

select * from repeats
