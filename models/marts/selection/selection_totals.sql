{%- set in_order = ['task_index', 'agent_name'] -%}
with

slices as (
    select
        run_id,
        task_index,
        agent_name,
        'all' as slice_by,
        'all' as slice_value
    from {{ ref('selected_tasks') }}
    union all
    select
        run_id,
        task_index,
        agent_name,
        slice_by,
        slice_value
    from {{ ref('task_slices') }}
),

sliced as (
    select
        slices.slice_by,
        slices.slice_value,
        tasks.*
    from {{ ref('selected_tasks') }} as tasks
    inner join slices using (run_id, task_index, agent_name)
),

staged as (
    select
        'before' as stage,
        *
    from sliced
    union all
    select
        'after' as stage,
        *
    from sliced
    where position is not null
),

totals as (
    select
        run_id,
        slice_by,
        slice_value,
        stage,
        count(*) as task_count,
        {{ mean_in_order('pass_ratio', in_order) }} as pass_ratio_mean,
        {{ sum_in_order('informative_ratio_8', in_order) }} as informative_groups_8,
        {{ sum_in_order('informative_ratio_16', in_order) }} as informative_groups_16,
        {{ sum_in_order('output_tokens_mean', in_order) }} as output_tokens
    from staged
    group by
        run_id,
        slice_by,
        slice_value,
        stage
),

priced as (
    select
        *,
        {{ group_price(8, 'output_tokens', 'informative_groups_8') }}
            as tokens_per_informative_group_8,
        {{ group_price(16, 'output_tokens', 'informative_groups_16') }}
            as tokens_per_informative_group_16
    from totals
)

select * from priced
