with

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
        others.unpaired_std_error,
        others.gym_welch_low,
        others.gym_welch_high,
        coverage.common_task_count,
        coverage.baseline_only_task_count,
        coverage.candidate_only_task_count,
        coverage.common_task_ratio,
        pairs.baseline_clean_ratio,
        pairs.clean_ratio,
        pairs.alpha,
        verdicts.margin,
        pairs.is_fixed_suite,
        pairs.cluster_by,
        pairs.is_same_rollouts,
        {{ utc_now() }} as compared_at
    from {{ ref('int_difference_intervals') }} as intervals
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    inner join {{ ref('int_compared_coverage') }} as coverage using (pair_key)
    inner join {{ ref('int_other_methods') }} as others using (group_key)
    inner join {{ ref('int_difference_tests') }} as tests using (group_key)
    inner join {{ ref('int_comparison_verdicts') }} as verdicts using (group_key)
    left join {{ ref('int_adjusted_tests') }} as adjusted using (group_key)
    left join {{ ref('int_comparison_needs') }} as needs using (group_key)
)

select * from comparisons
