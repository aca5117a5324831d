-- of second verdicts on the same rollouts; that of a comparison is in
-- int_comparison_verdicts
with

pairs as (
    select * from {{ ref('int_compared_runs') }}
    where is_same_rollouts
),

rollouts as (
    select
        infos.*,
        infos.reward >= runs.pass_threshold as is_pass
    from {{ ref('rollout_infos') }} as infos
    inner join {{ ref('runs') }} as runs using (run_id)
),

baselines as (
    select
        pairs.pair_key,
        rollouts.*
    from pairs
    inner join rollouts
        on pairs.baseline_run_id = rollouts.run_id
        and pairs.baseline_agent_name = rollouts.agent_name
),

candidates as (
    select
        pairs.pair_key,
        rollouts.*
    from pairs
    inner join rollouts
        on pairs.run_id = rollouts.run_id
        and pairs.agent_name = rollouts.agent_name
),

-- a rollout without a reward in one of the runs has no second verdict
verdicts as (
    select
        pair_key,
        task_index,
        rollout_index,
        baselines.reward as baseline_reward,
        candidates.reward,
        baselines.is_pass as is_baseline_pass,
        candidates.is_pass,
        coalesce(baselines.response_hash != candidates.response_hash, false)
            as is_response_changed,
        baselines.reward is not null and candidates.reward is not null
        and not coalesce(baselines.response_hash != candidates.response_hash, false)
            as is_compared
    from baselines
    full join candidates using (pair_key, task_index, rollout_index)
)

select * from verdicts
