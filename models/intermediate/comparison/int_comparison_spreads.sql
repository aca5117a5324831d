{%- set power_quantile = '0.8416212335729143e0' -%}
with

tokens as (
    select
        pair_key,
        {{ mean_in_order(
            'baseline_rollout_count * baseline_total_tokens_mean'
            ~ ' + rollout_count * total_tokens_mean',
            ['task_key']
        ) }} as tokens_per_task
    from {{ ref('int_compared_tasks') }}
    where is_common
    group by pair_key
),

-- The variance of a task's difference has a part between tasks, which only more tasks
-- average out, and a part within tasks, which repeats average out too. On exactly these
-- tasks the first part is not noise.
spreads as (
    select
        intervals.group_key,
        intervals.task_count,
        1e0 * intervals.smaller_rollout_count / intervals.task_count as repeat_count,
        intervals.rollout_variance,
        intervals.value_range,
        pairs.alpha,
        nullif(verdicts.margin, 0) as margin,
        tokens.tokens_per_task,
        intervals.z + {{ power_quantile }} as factor,
        case
            when pairs.is_fixed_suite then intervals.fixed_std_error
            else intervals.task_std_error
        end as std_error,
        case
            when pairs.is_fixed_suite then 0e0
            else greatest(
                    0e0,
                    power(intervals.task_std_error, 2) * intervals.task_count
                    - intervals.within_variance
                )
        end as between_variance
    from {{ ref('int_difference_intervals') }} as intervals
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    inner join {{ ref('int_comparison_verdicts') }} as verdicts using (group_key)
    left join tokens on intervals.pair_key = tokens.pair_key
)

select * from spreads
