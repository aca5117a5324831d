with

members as (
    select
        pair_key,
        baseline_run_id as run_id,
        baseline_agent_name as agent_name,
        true as is_baseline
    from {{ ref('int_compared_runs') }}
    union all
    select
        pair_key,
        run_id,
        agent_name,
        false as is_baseline
    from {{ ref('int_compared_runs') }}
),

-- A run may hold the same task several times: the first of one run is compared with the
-- first of the other. Rewards lie between 0 and 1, or in the range that was seen.
sides as (
    select
        members.pair_key,
        members.is_baseline,
        profiles.task_id,
        cast(row_number() over (
            partition by members.pair_key, members.is_baseline, profiles.task_id
            order by profiles.task_index
        ) as bigint) as occurrence,
        profiles.task_index,
        bands.rollout_count,
        profiles.measured_rollout_count + profiles.missing_rollout_count
        + profiles.masked_rollout_count - bands.rollout_count as unknown_count,
        bands.pass_count,
        profiles.reward_mean,
        case
            when bands.rollout_count > 1 and bands.is_informative
                then profiles.reward_std
            -- equal rewards, whatever rounding makes of their mean
            when bands.rollout_count > 1 then 0e0
        end as reward_std,
        profiles.output_tokens_mean,
        profiles.total_tokens_mean,
        profiles.turn_count_mean,
        profiles.cost_mean,
        least(0e0, min(profiles.reward_min) over (partition by members.pair_key))
            as reward_low,
        greatest(1e0, max(profiles.reward_max) over (partition by members.pair_key))
            as reward_high
    from members
    inner join {{ ref('task_profiles') }} as profiles using (run_id, agent_name)
    inner join {{ ref('task_bands') }} as bands using (run_id, task_index, agent_name)
),

baselines as (
    select * from sides
    where is_baseline
),

candidates as (
    select * from sides
    where not is_baseline
),

tasks as (
    select
        pair_key,
        task_id,
        occurrence,
        baselines.task_index as baseline_task_index,
        candidates.task_index,
        baselines.task_index is not null and candidates.task_index is not null
            as is_common,
        coalesce(baselines.rollout_count, 0) as baseline_rollout_count,
        coalesce(candidates.rollout_count, 0) as rollout_count,
        coalesce(baselines.unknown_count, 1) as baseline_unknown_count,
        coalesce(candidates.unknown_count, 1) as unknown_count,
        coalesce(baselines.pass_count, 0) as baseline_pass_count,
        coalesce(candidates.pass_count, 0) as pass_count,
        baselines.reward_mean as baseline_reward_mean,
        candidates.reward_mean,
        baselines.reward_std as baseline_reward_std,
        candidates.reward_std,
        baselines.output_tokens_mean as baseline_output_tokens_mean,
        candidates.output_tokens_mean,
        baselines.total_tokens_mean as baseline_total_tokens_mean,
        candidates.total_tokens_mean,
        baselines.turn_count_mean as baseline_turn_count_mean,
        candidates.turn_count_mean,
        baselines.cost_mean as baseline_cost_mean,
        candidates.cost_mean,
        coalesce(baselines.reward_low, candidates.reward_low) as reward_low,
        coalesce(baselines.reward_high, candidates.reward_high) as reward_high
    from baselines
    full join candidates using (pair_key, task_id, occurrence)
)

select * from tasks
