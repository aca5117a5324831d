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
        max(outcomes.rollout_count) over (partition by slices.slice_key) as highest_k,
        min(outcomes.reward_min) over (partition by slices.slice_key) >= 0
        and max(outcomes.reward_max) over (partition by slices.slice_key) <= 1
            as is_unit_reward
    from {{ ref('int_task_slices') }} as slices
    inner join {{ ref('int_task_outcomes') }} as outcomes using (task_key)
    left join final_votes using (task_key)
),

-- the scores of k rollouts need tasks with k scored rollouts, the most in the slice
scored as (
    select
        tasks.*,
        scores.score,
        case scores.score
            when 'mean_reward' then tasks.reward_mean
            when 'pass_rate' then tasks.pass_count / tasks.rollout_count
        end as mean_value,
        case
            when tasks.rollout_count < tasks.highest_k then null
            when scores.score = 'pass_at_k' then least(tasks.pass_count, 1)
            when scores.score = 'pass_hat_k'
                then cast(tasks.pass_count = tasks.rollout_count as integer)
            when scores.score = 'max_at_k' then tasks.reward_max
            when scores.score = 'min_at_k' then tasks.reward_min
            when scores.score = 'majority_at_k' then tasks.majority
        end as k_value,
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
        case when k_value is not null then highest_k end as k,
        cast(coalesce(mean_value, k_value) as double) as value,
        variance,
        variance / rollout_count as noise,
        mean_value * rollout_count as rollout_sum
    from scored
    where mean_value is not null or k_value is not null
)

select * from task_scores
