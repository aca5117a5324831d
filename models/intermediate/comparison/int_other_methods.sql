with

intervals as (
    select
        intervals.*,
        pairs.is_same_rollouts
    from {{ ref('int_difference_intervals') }} as intervals
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
),

-- NeMo Gym compares the mean reward of all tasks
gym as (
    select
        intervals.pair_key,
        intervals.score,
        intervals.slice_by,
        intervals.difference - quantiles.quantile * intervals.std_error as low,
        intervals.difference + quantiles.quantile * intervals.std_error as high
    from (
        select
            *,
            'mean_reward' as score,
            'all' as slice_by
        from {{ ref('int_gym_intervals') }}
    ) as intervals
    inner join {{ ref('int_t_quantiles') }} as quantiles using (alpha, degrees)
),

methods as (
    select
        intervals.group_key,
        -- both take the runs for independent ones
        case
            when intervals.is_same_rollouts then null
            else sqrt(
                    power(intervals.baseline_std_error, 2)
                    + power(intervals.candidate_std_error, 2)
                )
        end as unpaired_std_error,
        case when intervals.is_same_rollouts then null else gym.low end
            as gym_welch_low,
        case when intervals.is_same_rollouts then null else gym.high end
            as gym_welch_high
    from intervals
    left join gym using (pair_key, score, slice_by)
)

select * from methods
