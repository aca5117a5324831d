with

spread as (
    select
        scores.*,
        sqrt(scores.noise_sum) / scores.task_count as rerun_std_error,
        -- an error below the rerun's noise is an accident of few tasks; `greatest`
        -- skips a noise that is not known
        case
            when scores.task_std_error is not null
                then greatest(scores.task_std_error, rerun_std_error)
        end as std_error,
        {{ t_quantile('quantiles.quantile', '(scores.task_count - 1)') }} as t,
        identities.collection_ended_at as collected_at
    from {{ ref('int_slice_scores') }} as scores
    left join {{ ref('t_quantiles') }} as quantiles
        on scores.task_count - 1 = quantiles.degrees_of_freedom
    left join {{ ref('int_run_identities') }} as identities using (run_id)
),

-- the variance between tasks: the tasks' variance minus the noise of their rollouts
parted as (
    select
        *,
        case
            when std_error * std_error * task_count > noise_sum / task_count
                then std_error * std_error * task_count - noise_sum / task_count
            when std_error * noise_sum is not null then 0e0
        end as between_task_variance,
        between_task_variance + noise_sum / task_count / 2 as doubled_variance
    from spread
),

scores as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        score,
        k,
        value,
        {{ finite('rollout_value') }} as rollout_value,
        task_count,
        rollout_count,
        std_error,
        {{ interval_bound(
            'value', 'std_error', 'task_count', 'rollout_count', 't', 'is_share', '-'
        ) }} as low,
        {{ interval_bound(
            'value', 'std_error', 'task_count', 'rollout_count', 't', 'is_share', '+'
        ) }} as high,
        {{ interval_method('std_error', 'task_count', 'is_share') }} as interval_method,
        {{ finite('rerun_std_error') }} as rerun_std_error,
        case
            when std_error > 0 and {{ is_finite('rerun_std_error') }}
                then least(1e0, power(rerun_std_error / std_error, 2))
        end as rerun_ratio,
        {{ finite('sqrt(between_task_variance)') }} as between_task_std,
        std_error / sqrt(2) as std_error_double_tasks,
        case
            when doubled_variance is not null
                then least(std_error, sqrt(doubled_variance / task_count))
        end as std_error_double_repeats,
        collected_at
    from parted
)

select * from scores
