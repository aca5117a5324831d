with

shares as (
    select
        *,
        rollout_count - kept_count - gained_count - lost_count as neither_count,
        1e0 * (kept_count + lost_count) / rollout_count as baseline_pass_ratio,
        1e0 * (kept_count + gained_count) / rollout_count as pass_ratio,
        1e0 * (kept_count + neither_count) / rollout_count as agreement_ratio,
        -- how often two verdicts with these pass rates would agree by chance
        baseline_pass_ratio * pass_ratio
        + (1 - baseline_pass_ratio) * (1 - pass_ratio) as chance_ratio
    from {{ ref('int_verdict_sums') }}
),

widths as (
    select
        shares.*,
        1 - power(pairs.alpha / 2, 1e0 / shares.task_count) as unseen_ratio,
        quantiles.quantile * shares.std_error as width
    from shares
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    left join {{ ref('int_t_quantiles') }} as quantiles
        on pairs.alpha = quantiles.alpha and shares.task_count - 1 = quantiles.degrees
),

-- as in `int_difference_intervals`: without any spread, what so many tasks leave unseen
intervals as (
    select
        *,
        case
            when std_error = 0 then difference - unseen_ratio * (1 + difference)
            else difference - width
        end as low,
        case
            when std_error = 0 then difference + unseen_ratio * (1 - difference)
            else difference + width
        end as high,
        (agreement_ratio - chance_ratio) / nullif(1 - chance_ratio, 0) as kappa
    from widths
)

select * from intervals
