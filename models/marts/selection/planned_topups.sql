with

recipe as (
    select * from {{ ref('stg_recipes') }}
),

-- a plan names the number of rollouts in all; missing ones are run first
priced as (
    select
        tasks.run_id,
        tasks.task_index,
        tasks.agent_name,
        tasks.task_id,
        tasks.rollout_count,
        tasks.pass_count,
        chances.more_rollouts,
        chances.chance,
        tasks.completed_rollout_count
        + greatest(chances.more_rollouts, tasks.missing_rollout_count)
            as num_repeats,
        chances.more_rollouts * tasks.output_tokens_mean as tokens,
        case
            when recipe.budget_tokens is null then chances.more_rollouts
            else tokens
        end / chances.chance as price
    from {{ ref('selected_tasks') }} as tasks
    inner join {{ ref('int_topup_chances') }} as chances
        using (rollout_count, pass_count)
    cross join recipe
    where tasks.reason = 'undecided'
),

ranked as (
    select
        *,
        cast(row_number() over (
            order by price is null, price, task_index, agent_name
        ) as bigint) as place
    from priced
),

summed as (
    select
        *,
        cast(sum(more_rollouts) over (order by place) as bigint) as total_rollouts,
        sum(coalesce(tokens, 0)) over (order by place) as total_tokens
    from ranked
),

affordable as (
    select summed.*
    from summed
    cross join recipe
    where summed.total_rollouts
        <= coalesce(recipe.budget_rollouts, summed.total_rollouts)
        and summed.total_tokens <= coalesce(recipe.budget_tokens, summed.total_tokens)
)

select * from affordable
