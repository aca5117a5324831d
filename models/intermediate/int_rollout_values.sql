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
        {{ unnest_entries(unite_entries('usage_fields', 'own_fields')) }}
    from rollouts
),

numbers as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        key as metric,
        {{ entry_number('value') }} as value
    from fields
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
    from numbers
)

select * from metric_values
