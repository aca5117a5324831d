with

expected as (
    select * from {{ ref('int_expected_rollouts') }}
),

inputs as (
    select * from {{ ref('stg_samples') }}
),

samples as (
    select
        inputs.run_id,
        inputs.task_index,
        expected.agent_name,
        inputs.task_id,
        inputs.task_name,
        inputs.prompt,
        inputs.sample
    from inputs
    inner join expected using (run_id, task_index, rollout_index)
    qualify
        row_number() over (
            partition by inputs.run_id, inputs.task_index, expected.agent_name
            order by not expected.is_measured, inputs.rollout_index
        ) = 1
),

counted as (
    select
        run_id,
        task_index,
        agent_name,
        count(*) as rollout_count,
        count(case when is_completed then 1 end) as completed_count,
        count(case when is_measured then 1 end) as measured_count
    from expected
    group by
        run_id,
        task_index,
        agent_name
),

tasks as (
    select
        counted.run_id,
        counted.task_index,
        counted.agent_name,
        counted.rollout_count,
        counted.completed_count,
        counted.measured_count,
        counted.completed_count - counted.measured_count as masked_count,
        samples.task_id,
        samples.task_name,
        samples.prompt,
        samples.sample
    from counted
    left join samples using (run_id, task_index, agent_name)
)

select * from tasks
