with

verdicts as (
    select
        *,
        case
            when is_pass and not is_baseline_pass then 'fail to pass'
            when is_baseline_pass and not is_pass then 'pass to fail'
            when reward != baseline_reward then 'reward only'
        end as change
    from {{ ref('int_rollout_verdicts') }}
    where is_compared
),

-- the rollouts to look at first: the largest changes of the reward
changes as (
    select
        pairs.run_id,
        pairs.baseline_run_id,
        pairs.agent_name,
        pairs.baseline_agent_name,
        verdicts.task_index,
        verdicts.rollout_index,
        verdicts.change,
        verdicts.baseline_reward,
        verdicts.reward,
        {{ finite('verdicts.reward - verdicts.baseline_reward') }} as difference,
        cast(row_number() over (
            partition by pairs.pair_key
            order by
                -abs(verdicts.reward - verdicts.baseline_reward),
                verdicts.change = 'reward only',
                verdicts.task_index,
                verdicts.rollout_index
        ) as bigint) as change_rank
    from verdicts
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    where verdicts.change is not null
)

select * from changes
