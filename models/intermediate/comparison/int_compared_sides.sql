with

pairs as (
    select * from {{ ref('int_compared_runs') }}
),

members as (
    select
        pair_key,
        baseline_run_id as run_id,
        baseline_agent_name as agent_name,
        true as is_baseline
    from pairs
    union all
    select
        pair_key,
        run_id,
        agent_name,
        false as is_baseline
    from pairs
),

-- a run may hold the same task several times: the first of one run is compared with
-- the first of the other
sides as (
    select
        members.pair_key,
        members.is_baseline,
        profiles.task_id,
        cast(row_number() over (
            partition by members.pair_key, members.is_baseline, profiles.task_id
            order by profiles.task_index
        ) as bigint) as occurrence,
        profiles.run_id,
        profiles.agent_name,
        profiles.task_index,
        bands.rollout_count,
        bands.pass_count,
        profiles.measured_rollout_count + profiles.missing_rollout_count
        + profiles.masked_rollout_count - bands.rollout_count as unknown_count,
        profiles.reward_mean,
        profiles.reward_min,
        profiles.reward_max,
        case
            when bands.rollout_count > 1 and bands.is_informative
                then profiles.reward_std
            -- equal rewards, whatever rounding makes of their mean
            when bands.rollout_count > 1 then 0e0
        end as reward_std,
        profiles.output_tokens_mean,
        profiles.total_tokens_mean,
        profiles.turn_count_mean,
        profiles.cost_mean
    from members
    inner join {{ ref('task_profiles') }} as profiles using (run_id, agent_name)
    inner join {{ ref('task_bands') }} as bands using (run_id, task_index, agent_name)
)

select * from sides
