with

-- masked rollouts do not count in statistics
rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
    where is_measured
),

metrics as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        {{ unnest_entries('metrics') }}
    from rollouts
),

metric_values as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        metric,
        value,
        {{ is_finite('value') }} as is_usable
    from metrics
)

select * from metric_values
