-- a sum of doubles depends on its order: the rewards are in the order of the rollouts
{%- set in_order = values_in_order('reward', ['place']) %}
with

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
        {{ in_order }} as rewards,
        {{ list_mean(in_order) }} as reward_mean,
        {{ mean_in_order('output_tokens', ['place']) }} as output_tokens_mean
    from {{ ref('int_scored_rollouts') }}
    group by
        task_key,
        has_answers
),

outcomes as (
    select
        grouped.task_key,
        grouped.has_answers,
        grouped.rollout_count,
        grouped.pass_count,
        grouped.one_count,
        grouped.no_answer_count,
        grouped.is_binary,
        grouped.reward_min,
        grouped.reward_max,
        grouped.reward_median,
        grouped.reward_mean,
        -- 0 for a task with one rollout, and for equal rewards, whatever rounding
        -- makes of their mean; none for one reward among more rollouts
        case
            when tasks.measured_count = 1 then 0e0
            when grouped.rollout_count > 1
                and not {{ differ('grouped.reward_min', 'grouped.reward_max') }}
                then 0e0
            else {{ sample_std('grouped.rewards', 'grouped.reward_mean') }}
        end as reward_std,
        {{ finite('grouped.output_tokens_mean') }} as output_tokens_mean
    from grouped
    inner join {{ ref('int_task_keys') }} as tasks using (task_key)
)

select * from outcomes
