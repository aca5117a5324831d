with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
),

fields as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        {{ unnest_fields('metric_fields') }}
    from rollouts
),

metric_values as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        name as metric,
        number as value,
        {{ is_finite('number') }} as is_usable
    from fields
)

select * from metric_values
