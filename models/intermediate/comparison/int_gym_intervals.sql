with

repeats as (
    select
        run_id,
        agent_name,
        count(*) as repeat_count,
        avg(value_mean order by rollout_index) as mean,
        stddev_samp(value_mean order by rollout_index) as std
    from {{ ref('repeat_metrics') }}
    where metric = 'reward'
    group by
        run_id,
        agent_name
),

paired as (
    select
        pairs.pair_key,
        pairs.alpha,
        candidates.mean - baselines.mean as difference,
        power(baselines.std, 2) / baselines.repeat_count as baseline_variance,
        power(candidates.std, 2) / candidates.repeat_count as variance,
        baselines.repeat_count as baseline_repeat_count,
        candidates.repeat_count
    from {{ ref('int_compared_runs') }} as pairs
    inner join repeats as baselines
        on pairs.baseline_run_id = baselines.run_id
        and pairs.baseline_agent_name = baselines.agent_name
    inner join repeats as candidates
        on pairs.run_id = candidates.run_id
        and pairs.agent_name = candidates.agent_name
    where baselines.repeat_count > 1 and candidates.repeat_count > 1
),

-- Welch's interval over the means of the repeats, as NeMo Gym's compare reports it
intervals as (
    select
        pair_key,
        alpha,
        difference,
        sqrt(baseline_variance + variance) as std_error,
        power(baseline_variance + variance, 2) / nullif(
            power(baseline_variance, 2) / (baseline_repeat_count - 1)
            + power(variance, 2) / (repeat_count - 1),
            0
        ) as degrees
    from paired
)

select * from intervals
