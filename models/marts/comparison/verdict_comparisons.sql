with

unmatched as (
    select
        pair_key,
        count(case when reward is null then 1 end) as baseline_only_count,
        count(case when baseline_reward is null then 1 end) as candidate_only_count,
        count(case when is_response_changed then 1 end) as changed_response_count
    from {{ ref('int_rollout_verdicts') }}
    where baseline_reward is not null or reward is not null
    group by pair_key
),

agreements as (
    select
        *,
        1e0 * (kept_count + lost_count) / rollout_count as baseline_pass_ratio,
        1e0 * (kept_count + gained_count) / rollout_count as pass_ratio,
        1e0 * (kept_count + neither_count) / rollout_count as agreement_ratio,
        -- how often two verdicts with these pass rates would agree by chance
        baseline_pass_ratio * pass_ratio
        + (1 - baseline_pass_ratio) * (1 - pass_ratio) as chance_ratio
    from {{ ref('int_verdict_intervals') }}
),

comparisons as (
    select
        pairs.run_id,
        pairs.baseline_run_id,
        pairs.agent_name,
        pairs.baseline_agent_name,
        intervals.task_count,
        intervals.rollout_count,
        unmatched.baseline_only_count as baseline_only_rollout_count,
        unmatched.candidate_only_count as candidate_only_rollout_count,
        unmatched.changed_response_count as changed_response_rollout_count,
        intervals.kept_count as both_pass_count,
        intervals.neither_count as both_fail_count,
        intervals.gained_count as fail_to_pass_count,
        intervals.lost_count as pass_to_fail_count,
        intervals.agreement_ratio,
        (intervals.agreement_ratio - intervals.chance_ratio)
        / nullif(1 - intervals.chance_ratio, 0) as kappa,
        intervals.baseline_pass_ratio,
        intervals.pass_ratio,
        intervals.difference,
        intervals.std_error,
        intervals.low,
        intervals.high,
        intervals.rising_task_count,
        intervals.falling_task_count,
        intervals.chi_square,
        tests.test,
        tests.p_value,
        pairs.alpha
    from agreements as intervals
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    inner join {{ ref('int_verdict_tests') }} as tests using (pair_key)
    inner join unmatched using (pair_key)
)

select * from comparisons
