with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
),

runs as (
    select * from {{ ref('stg_runs') }}
),

answering_agents as (
    select distinct
        run_id,
        agent_name
    from rollouts
    where is_measured and has_answer_field
),

scored as (
    select
        tasks.task_key,
        rollouts.rollout_index,
        cast(row_number() over (
            partition by tasks.task_key order by rollouts.rollout_index
        ) as bigint) as place,
        rollouts.reward,
        rollouts.reward >= runs.pass_threshold as is_pass,
        rollouts.output_tokens,
        rollouts.answer,
        rollouts.slice_values,
        answering_agents.run_id is not null as has_answers
    from rollouts
    inner join runs using (run_id)
    inner join {{ ref('int_task_keys') }} as tasks
        using (run_id, agent_name, task_index)
    left join answering_agents using (run_id, agent_name)
    where rollouts.reward is not null
)

select * from scored
