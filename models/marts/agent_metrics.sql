with

metric_values as (
    select * from {{ ref('int_rollout_values') }}
),

group_sizes as (
    select
        run_id,
        agent_name,
        count(*) as rollout_count
    from {{ ref('int_rollouts_matched') }}
    group by
        run_id,
        agent_name
),

-- floating-point sums depend on their order: a list in order gives the same bits every time
ordered as (
    select
        run_id,
        agent_name,
        metric,
        {{ list_in_order('value', ['task_index', 'rollout_index']) }} as in_order
    from metric_values
    where is_usable
    group by
        run_id,
        agent_name,
        metric
),

centered as (
    select
        *,
        {{ list_mean('in_order') }} as center
    from ordered
),

described as (
    select
        centered.run_id,
        centered.agent_name,
        centered.metric,
        {{ list_length('centered.in_order') }} as value_count,
        {{ finite('centered.center') }} as value_mean,
        {{ list_max('centered.in_order') }} as value_max,
        {{ list_min('centered.in_order') }} as value_min,
        {{ finite(list_median('centered.in_order')) }} as value_median,
        {{ group_std('centered.in_order', 'centered.center', 'group_sizes.rollout_count') }} as value_std
    from centered
    inner join group_sizes
        on centered.run_id = group_sizes.run_id
        and centered.agent_name = group_sizes.agent_name
)

select * from described
