{%- set columns = {
    'mean': 'value_mean', 'median': 'value_median', 'std': 'value_std',
    'sem': 'value_sem',
    'min': 'value_min', 'max': 'value_max', 'p25': 'value_p25', 'p75': 'value_p75',
    'ci_low_95': 'value_ci_low_95', 'ci_high_95': 'value_ci_high_95'
} -%}
with

tasks as (
    select
        run_id,
        agent_name,
        count(*) as task_count
    from {{ ref('task_profiles') }}
    where num_rollouts > 0
    group by
        run_id,
        agent_name
),

-- a repeat without any metric has a row too
repeats as (
    select
        run_id,
        agent_name,
        rollout_index,
        count(*) as sample_count
    from {{ ref('rollout_infos') }}
    where is_measured
    group by
        run_id,
        agent_name,
        rollout_index
    qualify count(*) over (partition by run_id, agent_name) > 1
),

statistics as (
    select
        run_id,
        agent_name,
        rollout_index,
        {{ text_in_order(metric_members('metric', columns), ['metric']) }} as members
    from {{ ref('repeat_metrics') }}
    group by
        run_id,
        agent_name,
        rollout_index
),

lines as (
    select
        repeats.run_id,
        repeats.agent_name,
        repeats.rollout_index,
        '{"agent_ref":{"name":' || {{ json_value('repeats.agent_name') }} || '}'
        || ',"_ng_rollout_index":' || repeats.rollout_index
        || ',"sample_count":' || repeats.sample_count
        || ',"missing_count":' || tasks.task_count - repeats.sample_count
        || coalesce(',' || statistics.members, '') || '}' as line
    from repeats
    inner join tasks using (run_id, agent_name)
    left join statistics using (run_id, agent_name, rollout_index)
)

select * from lines
