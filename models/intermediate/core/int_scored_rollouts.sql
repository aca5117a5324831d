with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
    where is_measured
),

runs as (
    select * from {{ ref('stg_runs') }}
),

answering_agents as (
    select distinct
        run_id,
        agent_name
    from rollouts
    where has_answer_field
),

scored as (
    select
        rollouts.run_id,
        rollouts.agent_name,
        rollouts.task_index,
        rollouts.rollout_index,
        cast(row_number() over (
            partition by rollouts.run_id, rollouts.agent_name, rollouts.task_index
            order by rollouts.rollout_index
        ) as bigint) as place,
        rollouts.reward,
        rollouts.reward >= runs.pass_threshold as is_pass,
        rollouts.output_tokens,
        rollouts.answer,
        rollouts.slice_values,
        answering_agents.run_id is not null as has_answers
    from rollouts
    inner join runs using (run_id)
    left join answering_agents using (run_id, agent_name)
    where rollouts.reward is not null
)

select * from scored
