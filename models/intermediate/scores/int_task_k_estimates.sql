with

outcomes as (
    select
        *,
        rollout_count - pass_count as fail_count,
        rollout_count - one_count as other_count,
        rollout_count - no_answer_count as answer_count
    from {{ ref('int_task_outcomes') }}
),

-- offsets from the first reward: squares of large and close rewards lose digits
scored as (
    select
        *,
        reward - first_value(reward) over (
            partition by run_id, agent_name, task_index order by place
        ) as offset_reward
    from {{ ref('int_scored_rollouts') }}
),

-- figures of the first k rollouts
prefixes as (
    select
        scored.run_id,
        scored.agent_name,
        scored.task_index,
        scored.place as k,
        scored.reward,
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
    left join {{ ref('int_majority_votes') }} as votes
        using (run_id, agent_name, task_index, place)
    window so_far as (
        partition by scored.run_id, scored.agent_name, scored.task_index
        order by scored.place
    )
),

-- beside them the chances for any k of the task's rollouts, from 1 to their number
estimates as (
    select
        run_id,
        agent_name,
        task_index,
        outcomes.has_answers,
        outcomes.rollout_count,
        prefixes.k,
        prefixes.k = outcomes.rollout_count as is_last,
        prefixes.reward,
        prefixes.lacks_answer,
        prefixes.reward_average,
        {{ prefix_std('prefixes.offset_sum', 'prefixes.square_sum', 'prefixes.k') }}
            as reward_deviation,
        prefixes.lacking_count / prefixes.k as lacking_average,
        {{ prefix_std(
            'prefixes.lacking_count', 'prefixes.lacking_count', 'prefixes.k'
        ) }} as lacking_deviation,
        case when outcomes.has_answers then coalesce(prefixes.majority, 0) end
            as majority,
        case when outcomes.has_answers then coalesce(prefixes.gym_majority, 0) end
            as gym_majority,
        1 - {{ subset_share(
            'outcomes.fail_count', 'outcomes.rollout_count', 'prefixes.k'
        ) }} as pass_at_k,
        {{ subset_share(
            'outcomes.pass_count', 'outcomes.rollout_count', 'prefixes.k'
        ) }} as pass_hat_k,
        case
            when not outcomes.is_binary then prefixes.reward_best
            else 1 - {{ subset_share(
                'outcomes.other_count', 'outcomes.rollout_count', 'prefixes.k'
            ) }}
        end as gym_pass,
        1 - {{ subset_share(
            'outcomes.answer_count', 'outcomes.rollout_count', 'prefixes.k'
        ) }} as lacking_chance
    from prefixes
    inner join outcomes using (run_id, agent_name, task_index)
)

select * from estimates
