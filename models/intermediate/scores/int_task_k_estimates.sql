-- the chances for k rollouts drawn from the rollouts of a task
with

prefixes as (
    select * from {{ ref('int_task_prefixes') }}
),

outcomes as (
    select
        task_key,
        is_binary,
        pass_count,
        rollout_count as total,
        rollout_count - pass_count as fail_count,
        rollout_count - one_count as other_count,
        rollout_count - no_answer_count as answer_count
    from {{ ref('int_task_outcomes') }}
),

chances as (
    select
        prefixes.*,
        outcomes.total as rollout_count,
        prefixes.k = outcomes.total as is_last,
        1 - {{ subset_share('outcomes.fail_count', 'outcomes.total', 'prefixes.k') }}
            as pass_at_k,
        {{ subset_share('outcomes.pass_count', 'outcomes.total', 'prefixes.k') }}
            as pass_hat_k,
        case
            when outcomes.is_binary then 1 - {{ subset_share(
                'outcomes.other_count', 'outcomes.total', 'prefixes.k'
            ) }}
            else prefixes.reward_best
        end as gym_pass,
        1 - {{ subset_share('outcomes.answer_count', 'outcomes.total', 'prefixes.k') }}
            as lacking_chance
    from prefixes
    inner join outcomes using (task_key)
)

select * from chances
