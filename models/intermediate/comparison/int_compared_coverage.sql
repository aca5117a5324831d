with

counted as (
    select
        pair_key,
        count(case when is_common then 1 end) as common_task_count,
        count(case when task_index is null then 1 end) as baseline_only_task_count,
        count(case when baseline_task_index is null then 1 end)
            as candidate_only_task_count
    from {{ ref('int_compared_tasks') }}
    group by pair_key
),

coverage as (
    select
        counted.*,
        1e0 * counted.common_task_count / nullif(
            counted.common_task_count
            + greatest(
                counted.baseline_only_task_count, counted.candidate_only_task_count
            ),
            0
        ) as common_task_ratio,
        pairs.baseline_clean_ratio,
        pairs.clean_ratio,
        abs(pairs.clean_ratio - pairs.baseline_clean_ratio) as clean_ratio_gap
    from counted
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
),

-- too few common tasks, or runs that break differently often, compare something else
-- than the agents
judged as (
    select
        *,
        case
            when common_task_ratio < 0.8e0 then 'tasks'
            when clean_ratio_gap > 0.05e0 + 1e-12 then 'clean_rates'
        end as obstacle
    from coverage
)

select * from judged
