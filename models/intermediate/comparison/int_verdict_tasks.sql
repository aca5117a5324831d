with

verdicts as (
    select * from {{ ref('int_rollout_verdicts') }}
    where is_compared
),

tasks as (
    select
        pair_key,
        task_index,
        count(*) as rollout_count,
        count(case when is_baseline_pass and is_pass then 1 end) as kept_count,
        count(case when not is_baseline_pass and is_pass then 1 end) as gained_count,
        count(case when is_baseline_pass and not is_pass then 1 end) as lost_count,
        gained_count - lost_count as net_count
    from verdicts
    group by
        pair_key,
        task_index
),

-- over all rollouts of the pair, not the mean of its tasks
differences as (
    select
        *,
        1e0 * sum(net_count) over (partition by pair_key)
        / sum(rollout_count) over (partition by pair_key) as difference
    from tasks
)

select * from differences
