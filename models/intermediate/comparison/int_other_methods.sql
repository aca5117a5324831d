with

intervals as (
    select * from {{ ref('int_difference_intervals') }}
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
        sqrt(
            power(intervals.baseline_std_error, 2)
            + power(intervals.candidate_std_error, 2)
        ) as unpaired_std_error,
        gym.low as gym_welch_low,
        gym.high as gym_welch_high
    from intervals
    left join gym using (pair_key, score, slice_by)
)

select * from methods
