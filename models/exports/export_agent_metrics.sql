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

-- an agent without any metric has a row too
lines as (
    select
        agents.run_id,
        agents.agent_name,
        '{' || concat_ws(
            ',', statistics.members, repeats.members, agents.members,
            '"agent_ref":{"name":' || {{ json_value('agents.agent_name') }} || '}'
        ) || '}' as line
    from {{ ref('export_agent_coverage') }} as agents
    left join statistics using (run_id, agent_name)
    left join repeats using (run_id, agent_name)
)

select * from lines
