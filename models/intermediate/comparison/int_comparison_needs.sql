with

factored as (
    select
        *,
        {{ finite('nullif(factor * std_error, 0)') }} as detectable_difference,
        task_count * power(margin / factor, 2) as allowed_variance
    from {{ ref('int_comparison_spreads') }}
),

-- without any spread: as many tasks as would show a difference as large as the margin
needs as (
    select
        group_key,
        task_count,
        repeat_count,
        detectable_difference,
        case
            when detectable_difference > 0
                then ceil(task_count * power(detectable_difference / margin, 2))
            when std_error = 0 and margin < value_range
                then ceil(ln(alpha / 2) / ln(1 - margin / value_range))
        end as tasks_needed,
        case
            when allowed_variance > between_variance and rollout_variance >= 0
                then ceil(rollout_variance / (allowed_variance - between_variance))
        end as repeats_needed,
        tokens_per_task
    from factored
),

-- what there is already is never too much
rounded as (
    select
        group_key,
        detectable_difference,
        case
            when tasks_needed < 1e12
                then greatest(task_count, cast(tasks_needed as bigint))
        end as tasks_needed,
        case
            when repeats_needed < 1e12
                then greatest(
                        cast(ceil(repeat_count) as bigint),
                        cast(repeats_needed as bigint)
                    )
        end as repeats_needed,
        case
            when tasks_needed < 1e12
                then greatest(0, tasks_needed - task_count) * tokens_per_task
        end as tokens_needed
    from needs
)

select * from rounded
