with

metric_values as (
    select * from {{ ref('int_rollout_values') }}
),

group_sizes as (
    select
        run_id,
        task_index,
        agent_name,
        count(*) as rollout_count
    from {{ ref('int_rollouts_matched') }}
    where is_measured
    group by
        run_id,
        task_index,
        agent_name
),

-- sums of doubles depend on their order: a list in order gives the same bits every time
ordered as (
    select
        run_id,
        task_index,
        agent_name,
        metric,
        {{ list_in_order('value', ['rollout_index']) }} as in_order
    from metric_values
    where is_usable
    group by
        run_id,
        task_index,
        agent_name,
        metric
),

centered as (
    select
        run_id,
        task_index,
        agent_name,
        metric,
        in_order,
        {{ list_mean('in_order') }} as center
    from ordered
),

described as (
    select
        centered.run_id,
        centered.task_index,
        centered.agent_name,
        centered.metric,
        {{ metric_statistics(
            'centered.in_order', 'centered.center', 'group_sizes.rollout_count'
        ) }}
    from centered
    inner join group_sizes
        on centered.run_id = group_sizes.run_id
        and centered.task_index = group_sizes.task_index
        and centered.agent_name = group_sizes.agent_name
)

select * from described
