with

bands as (
    select * from {{ ref('task_bands') }}
),

-- a masked rollout has no row in rollout_health
rollouts as (
    select
        run_id,
        task_index,
        infos.agent_name,
        infos.is_measured,
        coalesce(health.is_truncated, false) as is_truncated,
        coalesce(health.is_output_empty, false)
        or coalesce(health.is_verdict_inconsistent, false)
        or coalesce(health.is_ground_truth_suspect, false) as is_broken
    from {{ ref('rollout_infos') }} as infos
    left join {{ ref('rollout_health') }} as health
        using (run_id, task_index, rollout_index)
),

counted as (
    select
        run_id,
        task_index,
        agent_name,
        count(*) as completed_count,
        count(case when is_measured then 1 end) as measured_count,
        count(case when is_truncated then 1 end) as truncated_count,
        count(case when is_broken then 1 end) as broken_count
    from rollouts
    group by
        run_id,
        task_index,
        agent_name
),

candidates as (
    select
        bands.run_id,
        bands.task_index,
        bands.agent_name,
        bands.task_id,
        bands.rollout_count,
        bands.pass_count,
        bands.pass_ratio,
        bands.pass_low,
        bands.pass_high,
        bands.band,
        bands.reward_mean,
        bands.reward_std,
        bands.output_tokens_mean,
        bands.informative_ratio_8,
        bands.informative_ratio_16,
        bands.tokens_per_informative_group_8,
        bands.tokens_per_informative_group_16,
        counted.completed_count as completed_rollout_count,
        counted.completed_count - counted.measured_count as masked_rollout_count,
        counted.truncated_count as truncated_rollout_count,
        counted.broken_count as broken_rollout_count,
        bands.rollout_count > 1 and not bands.is_informative as is_zero_variance,
        bands.rollout_count > 1 and bands.pass_count in (0, bands.rollout_count)
            as is_zero_outcome_variance,
        2 * counted.measured_count <= counted.completed_count as is_masked,
        counted.broken_count > 0
        and 2 * counted.broken_count >= counted.measured_count as is_unhealthy,
        counted.truncated_count > 0
        and 2 * counted.truncated_count >= counted.measured_count as is_truncated
    from bands
    inner join counted using (run_id, task_index, agent_name)
)

select * from candidates
