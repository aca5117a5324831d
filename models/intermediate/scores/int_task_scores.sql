with

-- the vote of all rollouts of a task
final_votes as (
    select
        task_key,
        max_by(majority, place) as majority
    from {{ ref('int_majority_votes') }}
    group by task_key
),

tasks as (
    select
        slices.slice_key,
        outcomes.*,
        case when outcomes.has_answers then coalesce(final_votes.majority, 0) end
            as majority,
        max(outcomes.rollout_count) over slice as highest_k,
        min(outcomes.reward_min) over slice >= 0
        and max(outcomes.reward_max) over slice <= 1 as is_unit_reward
    from {{ ref('int_task_slices') }} as slices
    inner join {{ ref('int_task_outcomes') }} as outcomes using (task_key)
    left join final_votes using (task_key)
    window slice as (partition by slices.slice_key)
),

-- the scores of k rollouts need tasks with k scored rollouts, the most in the slice
scored as (
    select
        tasks.*,
        scores.score,
        scores.score not in ('mean_reward', 'pass_rate') as is_of_k,
        cast(case scores.score
            when 'mean_reward' then tasks.reward_mean
            when 'pass_rate' then tasks.pass_count / tasks.rollout_count
            when 'pass_at_k' then least(tasks.pass_count, 1)
            when 'pass_hat_k'
                then cast(tasks.pass_count = tasks.rollout_count as integer)
            when 'max_at_k' then tasks.reward_max
            when 'min_at_k' then tasks.reward_min
            when 'majority_at_k' then tasks.majority
        end as double) as value,
        -- the sample variance of single rollouts within the task
        case
            when tasks.rollout_count = 1 then null
            when scores.score = 'mean_reward' then tasks.reward_std * tasks.reward_std
            when scores.score = 'pass_rate'
                then 1e0 * tasks.pass_count * (tasks.rollout_count - tasks.pass_count)
                    / (tasks.rollout_count * (tasks.rollout_count - 1))
        end as variance
    from tasks
    cross join (
        values ('mean_reward'), ('pass_rate'), ('pass_at_k'), ('pass_hat_k'),
        ('max_at_k'), ('min_at_k'), ('majority_at_k')
    ) as scores (score)
),

task_scores as (
    select
        slice_key,
        task_key,
        score,
        rollout_count,
        is_unit_reward or score in ('pass_rate', 'pass_at_k', 'pass_hat_k') as is_share,
        case when is_of_k then highest_k end as k,
        value,
        variance,
        variance / rollout_count as noise,
        case when not is_of_k then value * rollout_count end as rollout_sum
    from scored
    where value is not null and (rollout_count = highest_k or not is_of_k)
)

select * from task_scores
