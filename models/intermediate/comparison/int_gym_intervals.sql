{%- set order = ['rollout_index'] -%}
with

repeats as (
    select
        run_id,
        agent_name,
        count(*) - 1 as degrees,
        {{ mean_in_order('value_mean', order) }} as mean,
        power({{ std_in_order('value_mean', order) }}, 2) / count(*) as variance
    from {{ ref('repeat_metrics') }}
    where metric = 'reward' and value_mean is not null
    group by
        run_id,
        agent_name
    having count(*) > 1
),

-- Welch's interval over the means of the repeats, as NeMo Gym's compare reports it: it
-- takes the runs for independent ones
differences as (
    select
        pairs.pair_key,
        pairs.alpha,
        pairs.z,
        candidates.mean - baselines.mean as difference,
        sqrt(baselines.variance + candidates.variance) as std_error,
        power(baselines.variance + candidates.variance, 2) / nullif(
            power(baselines.variance, 2) / baselines.degrees
            + power(candidates.variance, 2) / candidates.degrees,
            0
        ) as degrees
    from {{ ref('int_compared_runs') }} as pairs
    inner join repeats as baselines
        on pairs.baseline_run_id = baselines.run_id
        and pairs.baseline_agent_name = baselines.agent_name
    inner join repeats as candidates
        on pairs.run_id = candidates.run_id
        and pairs.agent_name = candidates.agent_name
    where not coalesce(pairs.is_same_rollouts, false)
),

{{ t_quantiles('differences') }},

-- NeMo Gym compares the mean reward of all tasks
intervals as (
    select
        differences.pair_key,
        'mean_reward' as score,
        'all' as slice_by,
        differences.difference - quantiles.quantile * differences.std_error as low,
        differences.difference + quantiles.quantile * differences.std_error as high
    from differences
    inner join quantiles using (alpha, degrees)
)

select * from intervals
