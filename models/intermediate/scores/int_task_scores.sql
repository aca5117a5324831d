with

-- the vote of all rollouts of a task
final_votes as (
    select
        run_id,
        agent_name,
        task_index,
        max_by(majority, place) as majority
    from {{ ref('int_majority_votes') }}
    group by
        run_id,
        agent_name,
        task_index
),

tasks as (
    select
        slices.slice_by,
        slices.slice_value,
        outcomes.*,
        case when outcomes.has_answers then coalesce(final_votes.majority, 0) end
            as majority,
        max(outcomes.rollout_count) over slice as highest_k,
        min(outcomes.reward_min) over slice >= 0
        and max(outcomes.reward_max) over slice <= 1 as is_unit_reward
    from {{ ref('int_task_slices') }} as slices
    inner join {{ ref('int_task_outcomes') }} as outcomes
        using (run_id, agent_name, task_index)
    left join final_votes using (run_id, agent_name, task_index)
    window slice as (
        partition by run_id, agent_name, slices.slice_by, slices.slice_value
    )
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
        -- the sample variance of single rollouts within the task: exactly 0 for equal
        -- rewards, whatever rounding makes of their mean
        case
            when tasks.rollout_count = 1 then null
            when scores.score = 'mean_reward' and not tasks.is_informative then 0e0
            when scores.score = 'mean_reward' then tasks.reward_std * tasks.reward_std
            when scores.score = 'pass_rate'
                then {{ pass_variance('tasks.pass_count', 'tasks.rollout_count') }}
        end as variance
    from tasks
    cross join (
        values ('mean_reward'), ('pass_rate'), ('pass_at_k'), ('pass_hat_k'),
        ('max_at_k'), ('min_at_k'), ('majority_at_k')
    ) as scores (score)
),

task_scores as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        task_index,
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
