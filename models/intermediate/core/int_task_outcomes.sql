with

-- a sum of doubles depends on its order: the rewards are in the order of the rollouts
grouped as (
    select
        task_key,
        has_answers,
        count(*) as rollout_count,
        count(case when is_pass then 1 end) as pass_count,
        count(case when reward = 1 then 1 end) as one_count,
        count(case when answer is null then 1 end) as no_answer_count,
        count(case when reward in (0, 1) then 1 end) = count(*) as is_binary,
        min(reward) as reward_min,
        max(reward) as reward_max,
        {{ median('reward') }} as reward_median,
        {{ values_in_order('reward', ['place']) }} as rewards,
        {{ mean_in_order('output_tokens', ['place']) }} as output_tokens_mean
    from {{ ref('int_scored_rollouts') }}
    group by
        task_key,
        has_answers
),

centered as (
    select
        *,
        {{ list_mean('rewards') }} as reward_mean
    from grouped
),

outcomes as (
    select
        centered.task_key,
        centered.has_answers,
        centered.rollout_count,
        centered.pass_count,
        centered.one_count,
        centered.no_answer_count,
        centered.is_binary,
        centered.reward_min,
        centered.reward_max,
        centered.reward_median,
        centered.reward_mean,
        -- 0 for a task with one rollout, and for equal rewards, whatever rounding
        -- makes of their mean; none for one reward among more rollouts
        case
            when tasks.measured_count = 1 then 0e0
            when centered.rollout_count > 1
                and not {{ differ('centered.reward_min', 'centered.reward_max') }}
                then 0e0
            else {{ sample_std('centered.rewards', 'centered.reward_mean') }}
        end as reward_std,
        {{ finite('centered.output_tokens_mean') }} as output_tokens_mean
    from centered
    inner join {{ ref('int_task_keys') }} as tasks using (task_key)
)

select * from outcomes
