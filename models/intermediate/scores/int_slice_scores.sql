{%- set order = ['task_index'] -%}
with

-- sums of doubles depend on their order: the tasks are in the order of the input
grouped as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        score,
        k,
        is_share,
        count(*) as task_count,
        cast(sum(rollout_count) as bigint) as rollout_count,
        count(variance) as repeated_task_count,
        {{ mean_in_order('value', order) }} as value,
        {{ error_in_order('value', order) }} as std_error,
        {{ sum_in_order('rollout_sum', order) }} as rollout_sum,
        {{ sum_in_order('noise', order) }} as noise_sum,
        {{ sum_in_order('variance', order) }} as variance_sum
    from {{ ref('int_task_scores') }}
    group by
        run_id,
        agent_name,
        slice_by,
        slice_value,
        score,
        k,
        is_share
),

-- a task with one rollout takes the mean variance of the others
filled as (
    select
        *,
        case when k is null then rollout_sum / rollout_count end as rollout_value,
        case
            when repeated_task_count > 0
                then noise_sum + variance_sum
                    * (task_count - repeated_task_count) / repeated_task_count
        end as all_noise_sum
    from grouped
),

scores as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        score,
        k,
        is_share,
        task_count,
        rollout_count,
        value,
        rollout_value,
        std_error as task_std_error,
        -- no noise where it was seen says little about where it could not be seen
        case
            when all_noise_sum > 0 or repeated_task_count = task_count
                then {{ finite('all_noise_sum') }}
        end as noise_sum
    from filled
)

select * from scores
