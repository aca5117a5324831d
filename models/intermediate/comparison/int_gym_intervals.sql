with

repeats as (
    select
        run_id,
        agent_name,
        count(*) as repeat_count,
        {{ mean_in_order('value_mean', ['rollout_index']) }} as mean,
        {{ values_in_order('value_mean', ['rollout_index']) }} as repeat_means
    from {{ ref('repeat_metrics') }}
    where metric = 'reward' and value_mean is not null
    group by
        run_id,
        agent_name
),

errors as (
    select
        run_id,
        agent_name,
        mean,
        repeat_count - 1 as repeat_degrees,
        power({{ list_std('repeat_means', 'mean') }}, 2) / repeat_count as variance
    from repeats
    where repeat_count > 1
),

-- Welch's interval over the means of the repeats, as NeMo Gym's compare reports it
intervals as (
    select
        pairs.pair_key,
        pairs.alpha,
        candidates.mean - baselines.mean as difference,
        sqrt(baselines.variance + candidates.variance) as std_error,
        power(baselines.variance + candidates.variance, 2) / nullif(
            power(baselines.variance, 2) / baselines.repeat_degrees
            + power(candidates.variance, 2) / candidates.repeat_degrees,
            0
        ) as degrees
    from {{ ref('int_compared_runs') }} as pairs
    inner join errors as baselines
        on pairs.baseline_run_id = baselines.run_id
        and pairs.baseline_agent_name = baselines.agent_name
    inner join errors as candidates
        on pairs.run_id = candidates.run_id
        and pairs.agent_name = candidates.agent_name
)

select * from intervals
