with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
),

-- where the rollout and its usage share a name, statistics take the usage's
fields as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        {{ unnest_fields(unite_fields('usage_fields', 'own_fields')) }}
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
