{%- set power_quantile = '0.8416212335729143e0' -%}
with

tokens as (
    select
        pair_key,
        avg(
            baseline_rollout_count * baseline_total_tokens_mean
            + rollout_count * total_tokens_mean
            order by task_id, occurrence
        ) as tokens_per_task
    from {{ ref('int_compared_tasks') }}
    where is_common
    group by pair_key
),

-- the variance of a task's difference has a part between tasks, which only more tasks
-- average out, and a part within tasks, which repeats average out too
spread as (
    select
        intervals.group_key,
        intervals.task_count,
        intervals.rollout_count,
        intervals.within_variance,
        intervals.value_range,
        intervals.alpha,
        verdicts.margin,
        tokens.tokens_per_task,
        intervals.z + {{ power_quantile }} as factor,
        (intervals.z + {{ power_quantile }}) * case
            when pairs.is_fixed_suite then intervals.fixed_std_error
            else intervals.task_std_error
        end as detectable_difference,
        greatest(
            0e0,
            power(intervals.task_std_error, 2) * intervals.task_count
            - intervals.within_variance
        ) as between_variance
    from {{ ref('int_difference_intervals') }} as intervals
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    inner join {{ ref('int_comparison_verdicts') }} as verdicts using (group_key)
    left join tokens using (pair_key)
),

-- without any spread: as many tasks as would show a difference as large as the margin
needs as (
    select
        group_key,
        task_count,
        detectable_difference,
        case
            when detectable_difference > 0
                then greatest(
                    task_count,
                    ceil(task_count * power(detectable_difference / margin, 2))
                )
            when margin < value_range
                then greatest(task_count, ceil(ln(alpha / 2) / ln(1 - margin / value_range)))
        end as tasks_needed,
        case
            when task_count * power(margin / factor, 2) > between_variance
                and within_variance is not null
                then greatest(
                    ceil(1e0 * rollout_count / task_count),
                    ceil(
                        1e0 * rollout_count / task_count * within_variance
                        / (task_count * power(margin / factor, 2) - between_variance)
                    )
                )
        end as repeats_needed,
        tokens_per_task
    from spread
    where margin > 0
),

rounded as (
    select
        group_key,
        {{ finite('detectable_difference') }} as detectable_difference,
        case when tasks_needed < 1e12 then cast(tasks_needed as bigint) end as tasks_needed,
        case when repeats_needed < 1e12 then cast(repeats_needed as bigint) end
            as repeats_needed,
        case
            when tasks_needed < 1e12 then (tasks_needed - task_count) * tokens_per_task
        end as tokens_needed
    from needs
)

select * from rounded
