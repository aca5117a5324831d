with

pairs as (
    select
        pairs.*,
        coverage.common_task_count,
        coverage.baseline_only_task_count,
        coverage.candidate_only_task_count,
        coverage.common_task_ratio,
        coverage.obstacle,
        gym.difference - quantiles.quantile * gym.std_error as gym_welch_low,
        gym.difference + quantiles.quantile * gym.std_error as gym_welch_high
    from {{ ref('int_compared_runs') }} as pairs
    inner join {{ ref('int_compared_coverage') }} as coverage using (pair_key)
    left join {{ ref('int_gym_intervals') }} as gym using (pair_key)
    left join {{ ref('int_t_quantiles') }} as quantiles
        on gym.alpha = quantiles.alpha and gym.degrees = quantiles.degrees
),

comparisons as (
    select
        pairs.run_id,
        pairs.baseline_run_id,
        pairs.agent_name,
        pairs.baseline_agent_name,
        intervals.score,
        intervals.slice_by,
        intervals.slice_value,
        verdicts.verdict,
        verdicts.observed_verdict,
        pairs.obstacle,
        intervals.task_count,
        intervals.baseline_rollout_count,
        intervals.rollout_count,
        verdicts.unknown_count as unknown_rollout_count,
        intervals.baseline_value,
        intervals.value,
        intervals.difference,
        intervals.task_std_error as std_error,
        intervals.low,
        intervals.high,
        intervals.interval_method,
        tests.test,
        tests.p_value,
        adjusted.p_value_holm,
        adjusted.family_size,
        tests.mid_p_value,
        intervals.cluster_count,
        intervals.fixed_std_error,
        intervals.fixed_low,
        intervals.fixed_high,
        tests.fixed_p_value,
        intervals.noise_floor as noise_floor_std_error,
        verdicts.lowest_low,
        verdicts.highest_high,
        needs.detectable_difference,
        needs.tasks_needed,
        needs.repeats_needed,
        needs.tokens_needed,
        sqrt(
            power(intervals.baseline_std_error, 2)
            + power(intervals.candidate_std_error, 2)
        )
            as unpaired_std_error,
        case
            when
                intervals.score = 'mean_reward' and intervals.slice_by = 'all'
                then pairs.gym_welch_low
        end
            as gym_welch_low,
        case
            when
                intervals.score = 'mean_reward' and intervals.slice_by = 'all'
                then pairs.gym_welch_high
        end
            as gym_welch_high,
        pairs.common_task_count,
        pairs.baseline_only_task_count,
        pairs.candidate_only_task_count,
        pairs.common_task_ratio,
        pairs.baseline_clean_ratio,
        pairs.clean_ratio,
        pairs.alpha,
        verdicts.margin,
        pairs.is_fixed_suite,
        pairs.cluster_by,
        pairs.is_forced,
        {{ utc_now() }} as compared_at
    from {{ ref('int_difference_intervals') }} as intervals
    inner join pairs using (pair_key)
    inner join {{ ref('int_difference_tests') }} as tests using (group_key)
    inner join {{ ref('int_comparison_verdicts') }} as verdicts using (group_key)
    left join {{ ref('int_adjusted_tests') }} as adjusted using (group_key)
    left join {{ ref('int_comparison_needs') }} as needs using (group_key)
)

select * from comparisons
