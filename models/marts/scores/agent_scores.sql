with

spread as (
    select
        slices.run_id,
        slices.agent_name,
        slices.slice_by,
        slices.slice_value,
        scores.*,
        sqrt(scores.noise_sum) / scores.task_count as rerun_std_error,
        -- an error below the rerun's noise is an accident of few tasks
        case
            when scores.std_error is not null
                then greatest(scores.std_error, rerun_std_error)
        end as error,
        {{ t_quantile('quantiles.quantile', '(scores.task_count - 1)') }} as t,
        bootstrap.low as bootstrap_low,
        bootstrap.high as bootstrap_high,
        identities.collection_ended_at as collected_at
    from {{ ref('int_slice_scores') }} as scores
    inner join {{ ref('int_slices') }} as slices using (slice_key)
    left join {{ ref('t_quantiles') }} as quantiles
        on scores.task_count - 1 = quantiles.degrees_of_freedom
    left join {{ ref('int_bootstrap_bounds') }} as bootstrap using (slice_key, score)
    left join {{ ref('int_run_identities') }} as identities using (run_id)
),

-- the variance between tasks: the tasks' variance minus the noise of their rollouts
parted as (
    select
        *,
        case
            when error * error * task_count > noise_sum / task_count
                then error * error * task_count - noise_sum / task_count
            when error * noise_sum is not null then 0e0
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
        {{ finite('value') }} as value,
        {{ finite('rollout_value') }} as rollout_value,
        task_count,
        rollout_count,
        error as std_error,
        {{ interval_bound(
            'value', 'error', 'task_count', 'rollout_count', 't', 'is_share', '-'
        ) }} as low,
        {{ interval_bound(
            'value', 'error', 'task_count', 'rollout_count', 't', 'is_share', '+'
        ) }} as high,
        {{ interval_method('error', 'task_count', 'is_share') }} as interval_method,
        {{ finite('rerun_std_error') }} as rerun_std_error,
        case
            when error > 0 and {{ is_finite('rerun_std_error') }}
                then least(1e0, power(rerun_std_error / error, 2))
        end as rerun_ratio,
        {{ finite('sqrt(between_task_variance)') }} as between_task_std,
        error / sqrt(2) as std_error_double_tasks,
        case
            when doubled_variance is not null
                then least(error, sqrt(doubled_variance / task_count))
        end as std_error_double_repeats,
        bootstrap_low,
        bootstrap_high,
        collected_at
    from parted
)

select * from scores
