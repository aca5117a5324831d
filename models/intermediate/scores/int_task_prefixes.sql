with

-- offsets from the first reward: squares of large and close rewards lose digits
scored as (
    select
        *,
        reward - first_value(reward) over (
            partition by task_key order by place
        ) as offset_reward
    from {{ ref('int_scored_rollouts') }}
),

running as (
    select
        scored.task_key,
        scored.place,
        scored.reward,
        scored.has_answers,
        case when scored.answer is null then 1e0 else 0e0 end as lacks_answer,
        avg(scored.reward) over so_far as reward_average,
        max(scored.reward) over so_far as reward_best,
        sum(scored.offset_reward) over so_far as offset_sum,
        sum(scored.offset_reward * scored.offset_reward) over so_far as square_sum,
        count(case when scored.answer is null then 1 end) over so_far as lacking_count,
        -- a place without a vote keeps the vote before it
        max_by(votes.majority, case when votes.majority is not null then place end)
            over so_far as majority,
        max_by(votes.gym_majority, case when votes.majority is not null then place end)
            over so_far as gym_majority
    from scored
    left join {{ ref('int_majority_votes') }} as votes using (task_key, place)
    window so_far as (partition by scored.task_key order by scored.place)
),

prefixes as (
    select
        task_key,
        has_answers,
        place as k,
        reward,
        lacks_answer,
        reward_average,
        reward_best,
        {{ prefix_std('offset_sum', 'square_sum', 'place') }} as reward_deviation,
        lacking_count / place as lacking_average,
        {{ prefix_std('lacking_count', 'lacking_count', 'place') }}
            as lacking_deviation,
        case when has_answers then coalesce(majority, 0) end as majority,
        case when has_answers then coalesce(gym_majority, 0) end as gym_majority
    from running
)

select * from prefixes
