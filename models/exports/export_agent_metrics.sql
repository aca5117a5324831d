{%- set across_repeats = {
    'mean_across_repeats/mean': 'mean_mean',
    'median_across_repeats/mean': 'mean_median',
    'std_across_repeats/mean': 'mean_std',
    'min_across_repeats/mean': 'mean_min',
    'max_across_repeats/mean': 'mean_max',
    'se_across_repeats/mean': 'mean_se',
    'ci_low_95_across_repeats/mean': 'mean_ci_low_95',
    'ci_high_95_across_repeats/mean': 'mean_ci_high_95'
} -%}
{%- set columns = {
    'mean': 'value_mean', 'max': 'value_max', 'min': 'value_min',
    'median': 'value_median', 'std': 'value_std'
} -%}
{%- set statistics = metric_members('metric', columns) -%}
{%- set repeats = metric_members('metric', across_repeats) -%}
with

agents as (
    select
        run_id,
        agent_name
    from {{ ref('agent_reliability') }}
    where measured_rollout_count > 0
),

-- most runs have no masked rollouts, and need not be read
rollouts as (
    select infos.*
    from {{ ref('rollout_infos') }} as infos
    inner join {{ ref('runs') }} as runs using (run_id)
    where runs.masked_rollout_count > 0
),

-- NeMo Gym counts masked rollouts under the agent's own name, not the server's
coverage as (
    select
        run_id,
        agent_ref_name as agent_name,
        '"coverage/measured_rollouts":' || count(case when is_measured then 1 end)
        || ',"coverage/masked_rollouts":' || count(case when not is_measured then 1 end)
        || ',"coverage/measured_tasks":'
        || count(distinct case when is_measured then task_index end)
        || ',"coverage/fully_masked_tasks":'
        || count(distinct task_index)
        - count(distinct case when is_measured then task_index end) as members
    from rollouts
    where agent_ref_name is not null
    group by
        run_id,
        agent_ref_name
    having count(case when not is_measured then 1 end) > 0
),

statistics as (
    select
        run_id,
        agent_name,
        {{ text_in_order(statistics, ['metric']) }} as members
    from {{ ref('agent_metrics') }}
    group by
        run_id,
        agent_name
),

repeats as (
    select
        run_id,
        agent_name,
        {{ text_in_order(repeats, ['metric']) }} as members
    from {{ ref('agent_repeats') }}
    group by
        run_id,
        agent_name
),

named as (
    select * from agents
    union
    select
        run_id,
        agent_name
    from coverage
),

-- an agent without any metric has a row too
lines as (
    select
        named.run_id,
        named.agent_name,
        '{' || concat_ws(
            ',',
            statistics.members,
            repeats.members,
            coverage.members,
            '"agent_ref":{"name":' || {{ json_value('named.agent_name') }} || '}'
        ) || '}' as line
    from named
    left join statistics using (run_id, agent_name)
    left join repeats using (run_id, agent_name)
    left join coverage using (run_id, agent_name)
)

select * from lines
