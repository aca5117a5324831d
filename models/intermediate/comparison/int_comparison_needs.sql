with

factored as (
    select
        *,
        factor * std_error as detectable_difference,
        task_count * power(margin / factor, 2) as allowed_variance
    from {{ ref('int_comparison_spreads') }}
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
            when allowed_variance > between_variance and rollout_variance >= 0
                then greatest(
                    ceil(repeat_count),
                    ceil(rollout_variance / (allowed_variance - between_variance))
                )
        end as repeats_needed,
        tokens_per_task
    from factored
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
