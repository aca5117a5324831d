with

answers as (
    select
        run_id,
        agent_name,
        task_index,
        answer,
        count(*) as rollout_count,
        coalesce({{ differ('min(reward)', 'max(reward)') }}, false)
            as has_several_rewards
    from {{ ref('int_rollouts_matched') }}
    where is_measured and answer is not null
    group by
        run_id,
        agent_name,
        task_index,
        answer
),

tasks as (
    select
        run_id,
        agent_name,
        task_index,
        sum(rollout_count) >= 2
        and 5 * max(rollout_count) >= 4 * sum(rollout_count) as is_agreed
    from answers
    group by
        run_id,
        agent_name,
        task_index
),

answer_groups as (
    select
        answers.*,
        tasks.is_agreed
    from answers
    inner join tasks using (run_id, agent_name, task_index)
)

select * from answer_groups
