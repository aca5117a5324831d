with

rewards as (
    select
        rollouts.run_id,
        rollouts.agent_name,
        rollouts.task_index,
        rollouts.reward,
        coalesce(runs.pass_threshold, 1e0) as pass_threshold
    from {{ ref('rollout_infos') }} as rollouts
    inner join {{ ref('runs') }} as runs using (run_id)
    where rollouts.reward is not null
),

sliced as (
    select
        *,
        'all' as slice_by,
        'all' as slice_value
    from rewards
    union all
    select
        rewards.*,
        slices.slice_by,
        slices.slice_value
    from rewards
    inner join {{ ref('task_slices') }} as slices using (run_id, agent_name, task_index)
),

spread as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        pass_threshold,
        count(distinct task_index) as task_count,
        count(*) as rollout_count,
        count(case when reward >= pass_threshold then 1 end) as pass_count,
        count(distinct reward) as distinct_reward_count,
        min(reward) as reward_min,
        {{ median('reward') }} as reward_median,
        percentile_cont(0.75e0) within group (order by reward) as reward_p75,
        percentile_cont(0.9e0) within group (order by reward) as reward_p90,
        max(reward) as reward_max
    from sliced
    group by
        run_id,
        agent_name,
        slice_by,
        slice_value,
        pass_threshold
),

spreads as (
    select
        *,
        distinct_reward_count > 2
        and pass_count <= rollout_count * 2e-2 as is_threshold_doubtful,
        distinct_reward_count = 1 and rollout_count >= 8 and task_count >= 2
            as is_constant
    from spread
)

select * from spreads
