with

runs as (
    select * from {{ ref('stg_runs') }}
),

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
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
        rollouts.reward,
        rollouts.reward >= runs.pass_threshold as is_pass,
        rollouts.output_tokens,
        rollouts.answer,
        rollouts.slice_values,
        answering_agents.run_id is not null as has_answers,
        row_number() over (
            partition by rollouts.run_id, rollouts.agent_name, rollouts.task_index
            order by rollouts.rollout_index
        ) as place
    from rollouts
    inner join runs on rollouts.run_id = runs.run_id
    left join answering_agents
        on rollouts.run_id = answering_agents.run_id
        and rollouts.agent_name = answering_agents.agent_name
    where rollouts.reward is not null
)

select * from scored
