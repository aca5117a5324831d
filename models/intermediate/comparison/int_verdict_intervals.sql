-- of second verdicts on the same rollouts; that of a comparison is in
-- int_comparison_verdicts
with

-- the rollouts of a task share it, so tasks are the units whose spread counts
tasks as (
    select
        pair_key,
        task_index,
        count(*) as rollout_count,
        count(case when is_baseline_pass and is_pass then 1 end) as kept_count,
        count(case when not is_baseline_pass and is_pass then 1 end) as gained_count,
        count(case when is_baseline_pass and not is_pass then 1 end) as lost_count,
        gained_count - lost_count as net_count
    from {{ ref('int_rollout_verdicts') }}
    where is_compared
    group by
        pair_key,
        task_index
),

-- over all rollouts of the pair, not the mean of its tasks
deviations as (
    select
        *,
        net_count - rollout_count * (
            1e0 * sum(net_count) over (partition by pair_key)
            / sum(rollout_count) over (partition by pair_key)
        ) as deviation
    from tasks
),

sums as (
    select
        pair_key,
        count(*) as task_count,
        cast(sum(rollout_count) as bigint) as rollout_count,
        cast(sum(kept_count) as bigint) as kept_count,
        cast(sum(gained_count) as bigint) as gained_count,
        cast(sum(lost_count) as bigint) as lost_count,
        count(case when net_count > 0 then 1 end) as rising_task_count,
        count(case when net_count < 0 then 1 end) as falling_task_count,
        1e0 * sum(net_count) as net_sum,
        1e0 * sum(net_count * net_count) as square_sum,
        {{ sum_in_order('power(deviation, 2)', ['task_index']) }} as deviation_sum
    from deviations
    group by pair_key
),

-- what is left of a spread of 0 after rounding is 0
errors as (
    select
        sums.*,
        pairs.alpha,
        pairs.z,
        sums.rollout_count - sums.kept_count - sums.gained_count - sums.lost_count
            as neither_count,
        cast(sums.task_count - 1 as double) as degrees,
        sums.net_sum / sums.rollout_count as difference,
        case
            when sums.task_count < 2 then null
            when sums.deviation_sum < 1e-18 * sums.rollout_count * sums.rollout_count
                then 0e0
            else sqrt(sums.deviation_sum * sums.task_count / (sums.task_count - 1))
                / sums.rollout_count
        end as std_error,
        (sums.task_count - 1) * sums.net_sum * sums.net_sum
        / (sums.task_count * nullif(sums.square_sum, 0)) as chi_square
    from sums
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
),

{{ t_quantiles('errors') }},

-- as in `int_difference_intervals`: without any spread, what so many tasks leave unseen
intervals as (
    select
        errors.*,
        1 - power(errors.alpha / 2, 1e0 / errors.task_count) as unseen_ratio,
        case
            when errors.std_error = 0
                then errors.difference - unseen_ratio * (1 + errors.difference)
            else errors.difference - quantiles.quantile * errors.std_error
        end as low,
        case
            when errors.std_error = 0
                then errors.difference + unseen_ratio * (1 - errors.difference)
            else errors.difference + quantiles.quantile * errors.std_error
        end as high
    from errors
    left join quantiles using (alpha, degrees)
)

select * from intervals
