with

counted as (
    select
        run_id,
        agent_name,
        task_index,
        has_answers,
        count(*) as rollout_count,
        count(case when is_pass then 1 end) as pass_count,
        count(case when reward = 1 then 1 end) as one_count,
        count(case when answer is null then 1 end) as no_answer_count,
        count(case when reward in (0, 1) then 1 end) = count(*) as is_binary,
        {{ mean_in_order('output_tokens', ['rollout_index']) }} as output_tokens_mean
    from {{ ref('int_scored_rollouts') }}
    group by
        run_id,
        agent_name,
        task_index,
        has_answers
),

rewards as (
    select * from {{ ref('int_task_metrics') }}
    where metric = 'reward'
),

outcomes as (
    select
        counted.run_id,
        counted.agent_name,
        counted.task_index,
        counted.has_answers,
        counted.rollout_count,
        counted.pass_count,
        counted.one_count,
        counted.no_answer_count,
        counted.is_binary,
        counted.output_tokens_mean,
        rewards.value_min as reward_min,
        rewards.value_max as reward_max,
        rewards.value_mean as reward_mean,
        rewards.value_std as reward_std,
        {{ differ('rewards.value_min', 'rewards.value_max') }} as is_informative
    from counted
    inner join rewards using (run_id, agent_name, task_index)
)

select * from outcomes
