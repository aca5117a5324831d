with

metrics as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        {{ rows_of('metrics') }}
    from {{ ref('int_rollouts_matched') }}
    where is_measured
),

rollout_metrics as (
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

select * from rollout_metrics
