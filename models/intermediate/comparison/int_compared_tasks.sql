with

baselines as (
    select * from {{ ref('int_compared_sides') }}
    where is_baseline
),

candidates as (
    select * from {{ ref('int_compared_sides') }}
    where not is_baseline
),

-- rewards lie between 0 and 1, or in the range that was seen
ranges as (
    select
        pair_key,
        least(0e0, min(reward_min)) as reward_low,
        greatest(1e0, max(reward_max)) as reward_high
    from {{ ref('int_compared_sides') }}
    group by pair_key
),

joined as (
    select
        coalesce(baselines.pair_key, candidates.pair_key) as pair_key,
        coalesce(baselines.task_id, candidates.task_id) as task_id,
        coalesce(baselines.occurrence, candidates.occurrence) as occurrence,
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
        candidates.cost_mean
    from baselines
    full join candidates using (pair_key, task_id, occurrence)
),

-- one number in place of three columns: later models sort and join by it
tasks as (
    select
        row_number() over (order by pair_key, joined.task_id, joined.occurrence)
            as task_key,
        joined.*,
        ranges.reward_low,
        ranges.reward_high
    from joined
    inner join ranges using (pair_key)
)

select * from tasks
