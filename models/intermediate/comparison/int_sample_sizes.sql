{%- set power_quantile = '0.8416212335729143e0' -%}
with

tokens as (
    select
        pair_key,
        {{ mean_in_order(
            'baseline_rollout_count * baseline_total_tokens_mean'
            ~ ' + rollout_count * total_tokens_mean',
            ['task_id', 'occurrence']
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
        intervals.*,
        tokens.tokens_per_task,
        intervals.z + {{ power_quantile }} as factor,
        nullif(intervals.margin, 0) as wanted,
        case
            when intervals.is_fixed_suite then intervals.fixed_std_error
            else intervals.task_std_error
        end as verdict_std_error,
        case
            when intervals.is_fixed_suite then 0e0
            else greatest(
                    0e0,
                    power(intervals.task_std_error, 2) * intervals.task_count
                    - intervals.within_variance
                )
        end as between_variance
    from {{ ref('int_difference_intervals') }} as intervals
    left join tokens using (pair_key)
),

detectable as (
    select
        *,
        {{ finite('nullif(factor * verdict_std_error, 0)') }} as detectable_difference,
        task_count * power(wanted / factor, 2) as allowed_variance
    from spreads
),

-- without any spread: as many tasks as would show a difference as large as the margin
needs as (
    select
        *,
        case
            when detectable_difference > 0
                then ceil(task_count * power(detectable_difference / wanted, 2))
            when verdict_std_error = 0 and wanted < value_range
                then ceil(ln(alpha / 2) / ln(1 - wanted / value_range))
        end as needed_task_count,
        case
            when allowed_variance > between_variance and rollout_variance >= 0
                then ceil(rollout_variance / (allowed_variance - between_variance))
        end as needed_repeat_count
    from detectable
),

-- what there is already is never too much
sizes as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        detectable_difference,
        case
            when needed_task_count < 1e12
                then greatest(task_count, cast(needed_task_count as bigint))
        end as tasks_needed,
        case
            when needed_repeat_count < 1e12 then greatest(
                    cast(ceil(smaller_rollout_count / task_count) as bigint),
                    cast(needed_repeat_count as bigint)
                )
        end as repeats_needed,
        case
            when needed_task_count < 1e12
                then greatest(0, needed_task_count - task_count) * tokens_per_task
        end as tokens_needed
    from needs
)

select * from sizes
