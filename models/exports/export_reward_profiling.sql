{%- set columns = {
    'mean': 'value_mean', 'max': 'value_max', 'min': 'value_min',
    'median': 'value_median', 'std': 'value_std'
} -%}
with

statistics as (
    select
        run_id,
        task_index,
        agent_name,
        {{ metric_members('metric', columns) }} as members
    from {{ ref('task_metrics') }}
    group by
        run_id,
        task_index,
        agent_name
),

infos as (
    select
        run_id,
        task_index,
        agent_name,
        {{ text_in_order('info', ['rollout_index']) }} as infos
    from {{ ref('rollout_infos') }}
    where is_measured
    group by
        run_id,
        task_index,
        agent_name
),

-- if any task of the run was sent to several agents, every row names its agent
lines as (
    select
        profiles.run_id,
        profiles.task_index,
        profiles.agent_name,
        '{"_ng_task_index":' || profiles.task_index
        || case
            when runs.is_fan_out
                then ',"agent_ref":{"name":'
                    || {{ json_value('profiles.agent_name') }} || '}'
            else ''
        end
        || coalesce(',' || statistics.members, '')
        || ',"sample":' || profiles.sample
        || ',"num_rollouts":' || profiles.measured_rollout_count
        || ',"expected_num_rollouts":' || profiles.unmasked_rollout_count
        || ',"missing_num_rollouts":' || profiles.missing_rollout_count
        || ',"reward_profile_completion_pct":'
        || {{ json_value('profiles.completion_pct') }}
        || ',"rollout_infos":[' || infos.infos || ']}' as line
    from {{ ref('task_profiles') }} as profiles
    inner join {{ ref('runs') }} as runs using (run_id)
    inner join infos using (run_id, task_index, agent_name)
    left join statistics using (run_id, task_index, agent_name)
)

select * from lines
