with

agents as (
    select
        reliability.run_id,
        reliability.agent_name,
        reliability.clean_ratio,
        runs.dropped_task_count > 0 as has_dropped_tasks,
        runs.origin_rollouts_path is not null as is_reverified,
        coalesce(runs.origin_rollouts_path, runs.rollouts_path) as source_path,
        count(*) over (partition by reliability.run_id) as agent_count
    from {{ ref('agent_reliability') }} as reliability
    inner join {{ ref('runs') }} as runs using (run_id)
),

-- the named agents; else agents of the same name, or the only agent of each run
matched as (
    select distinct
        declared.baseline_run_id,
        baselines.agent_name as baseline_agent_name,
        declared.candidate_run_id as run_id,
        candidates.agent_name,
        declared.alpha,
        declared.margin,
        declared.cluster_by,
        declared.is_fixed_suite,
        baselines.clean_ratio as baseline_clean_ratio,
        candidates.clean_ratio,
        baselines.has_dropped_tasks as has_baseline_dropped_tasks,
        candidates.has_dropped_tasks,
        -- one of them has the responses of the other, or both have those of a third
        declared.baseline_run_id != declared.candidate_run_id
        and (baselines.is_reverified or candidates.is_reverified)
        and baselines.source_path = candidates.source_path as is_same_rollouts
    from {{ ref('base_comparisons') }} as declared
    inner join agents as baselines on declared.baseline_run_id = baselines.run_id
    inner join agents as candidates on declared.candidate_run_id = candidates.run_id
    where baselines.agent_name
        = coalesce(declared.baseline_agent_name, baselines.agent_name)
        and candidates.agent_name
        = coalesce(declared.candidate_agent_name, candidates.agent_name)
        and (
            baselines.agent_name = candidates.agent_name
            or declared.baseline_agent_name is not null
            or declared.candidate_agent_name is not null
            or (baselines.agent_count = 1 and candidates.agent_count = 1)
        )
),

-- one number in place of four columns: later models join by it
pairs as (
    select
        row_number() over (
            order by baseline_run_id, run_id, baseline_agent_name, agent_name
        ) as pair_key,
        *,
        {{ upper_normal_quantile('(alpha / 2)') }} as z
    from matched
)

select * from pairs
