with

comparisons as (
    select
        pairs.run_id,
        pairs.baseline_run_id,
        pairs.agent_name,
        pairs.baseline_agent_name,
        score,
        slice_by,
        slice_value,
        verdicts.verdict,
        verdicts.verdict_anyway,
        verdicts.observed_verdict,
        coverage.obstacle,
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
        tests.p_value_holm,
        tests.family_size,
        tests.mid_p_value,
        intervals.cluster_count,
        intervals.fixed_std_error,
        intervals.fixed_low,
        intervals.fixed_high,
        tests.fixed_p_value,
        intervals.noise_floor as noise_floor_std_error,
        verdicts.lowest_low,
        verdicts.highest_high,
        sizes.detectable_difference,
        sizes.tasks_needed,
        sizes.repeats_needed,
        sizes.tokens_needed,
        case
            when pairs.is_same_rollouts then null
            else sqrt(
                    power(intervals.baseline_std_error, 2)
                    + power(intervals.candidate_std_error, 2)
                )
        end as unpaired_std_error,
        gym.low as gym_welch_low,
        gym.high as gym_welch_high,
        coverage.common_task_count,
        coverage.baseline_only_task_count,
        coverage.candidate_only_task_count,
        coverage.common_task_ratio,
        pairs.baseline_clean_ratio,
        pairs.clean_ratio,
        pairs.alpha,
        intervals.margin,
        pairs.is_fixed_suite,
        pairs.cluster_by,
        pairs.is_same_rollouts,
        {{ utc_now() }} as compared_at
    from {{ ref('int_difference_intervals') }} as intervals
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    inner join {{ ref('int_compared_coverage') }} as coverage using (pair_key)
    inner join {{ ref('int_difference_tests') }} as tests
        using (pair_key, score, slice_by, slice_value)
    inner join {{ ref('int_comparison_verdicts') }} as verdicts
        using (pair_key, score, slice_by, slice_value)
    inner join {{ ref('int_sample_sizes') }} as sizes
        using (pair_key, score, slice_by, slice_value)
    left join {{ ref('int_gym_intervals') }} as gym using (pair_key, score, slice_by)
)

select * from comparisons
