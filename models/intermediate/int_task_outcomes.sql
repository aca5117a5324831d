with

scored as (
    select * from {{ ref('int_scored_rollouts') }}
),

grouped as (
    select
        task_key,
        has_answers,
        count(*) as rollout_count,
        count(case when is_pass then 1 end) as pass_count,
        count(case when reward = 1 then 1 end) as one_count,
        count(case when answer is null then 1 end) as no_answer_count,
        count(case when reward in (0, 1) then 1 end) = count(*) as is_binary,
        {{ list_in_order('reward', ['place']) }} as rewards,
        {{ list_in_order('output_tokens', ['place']) }} as tokens
    from scored
    group by
        task_key,
        has_answers
),

centered as (
    select
        *,
        {{ list_mean('rewards') }} as center
    from grouped
),

outcomes as (
    select
        task_key,
        has_answers,
        rollout_count,
        pass_count,
        one_count,
        no_answer_count,
        is_binary,
        center as reward_mean,
        {{ list_min('rewards') }} as reward_min,
        {{ list_max('rewards') }} as reward_max,
        case
            when {{ differ(list_min('rewards'), list_max('rewards')) }}
                then {{ list_std('rewards', 'center') }}
            when rollout_count > 1 then 0.0
        end as reward_std,
        {{ finite(list_mean(without_nulls('tokens'))) }} as output_tokens_mean
    from centered
)

select * from outcomes
