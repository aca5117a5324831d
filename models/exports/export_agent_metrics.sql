{%- set columns = {
    'mean': 'value_mean', 'max': 'value_max', 'min': 'value_min',
    'median': 'value_median', 'std': 'value_std'
} -%}
{%- set across_repeats = {
    'mean_across_repeats/mean': 'mean_mean', 'median_across_repeats/mean': 'mean_median',
    'std_across_repeats/mean': 'mean_std', 'min_across_repeats/mean': 'mean_min',
    'max_across_repeats/mean': 'mean_max', 'se_across_repeats/mean': 'mean_se',
    'ci_low_95_across_repeats/mean': 'mean_ci_low_95',
    'ci_high_95_across_repeats/mean': 'mean_ci_high_95'
} -%}
with

agents as (
    select * from {{ ref('agent_reliability') }}
    where measured_rollout_count > 0
),

statistics as (
    select
        run_id,
        agent_name,
        {{ metric_members('metric', columns) }} as members
    from {{ ref('agent_metrics') }}
    group by
        run_id,
        agent_name
),

repeats as (
    select
        run_id,
        agent_name,
        {{ metric_members('metric', across_repeats) }} as members
    from {{ ref('agent_repeats') }}
    group by
        run_id,
        agent_name
),

-- NeMo Gym counts masked rollouts under the agent's own name, not the server's; most
-- runs have none, and need not be read
masked as (
    select
        infos.run_id,
        infos.agent_ref_name as agent_name,
        count(case when infos.is_measured then 1 end) as measured_rollout_count,
        count(case when not infos.is_measured then 1 end) as masked_rollout_count,
        count(distinct case when infos.is_measured then infos.task_index end)
            as measured_task_count,
        count(distinct infos.task_index) as task_count
    from {{ ref('rollout_infos') }} as infos
    inner join {{ ref('runs') }} as runs using (run_id)
    where runs.masked_rollout_count > 0 and infos.agent_ref_name is not null
    group by
        infos.run_id,
        infos.agent_ref_name
    having count(case when not infos.is_measured then 1 end) > 0
),

-- an agent without any metric has a row too
lines as (
    select
        run_id,
        agent_name,
        '{' || concat_ws(
            ',', statistics.members, repeats.members,
            '"coverage/measured_rollouts":' || masked.measured_rollout_count
            || ',"coverage/masked_rollouts":' || masked.masked_rollout_count
            || ',"coverage/measured_tasks":' || masked.measured_task_count
            || ',"coverage/fully_masked_tasks":'
            || (masked.task_count - masked.measured_task_count),
            '"agent_ref":{"name":' || {{ json_value('agent_name') }} || '}'
        ) || '}' as line
    from agents
    full outer join masked using (run_id, agent_name)
    left join statistics using (run_id, agent_name)
    left join repeats using (run_id, agent_name)
)

select * from lines
