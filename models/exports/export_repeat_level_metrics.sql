{%- set columns = {
    'mean': 'value_mean', 'median': 'value_median', 'std': 'value_std',
    'sem': 'value_sem',
    'min': 'value_min', 'max': 'value_max', 'p25': 'value_p25', 'p75': 'value_p75',
    'ci_low_95': 'value_ci_low_95', 'ci_high_95': 'value_ci_high_95'
} -%}
with

-- a repeat without any metric has a row too
repeats as (
    {{ repeat_counts(ref('rollout_infos')) }}
),

statistics as (
    select
        run_id,
        agent_name,
        rollout_index,
        {{ metric_members('metric', columns) }} as members
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
        || ',"missing_count":' || repeats.missing_count
        || coalesce(',' || statistics.members, '') || '}' as line
    from repeats
    left join statistics using (run_id, agent_name, rollout_index)
)

select * from lines
