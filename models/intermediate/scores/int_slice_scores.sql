{%- set in_order = values_in_order('value', ['task_key']) -%}
with

grouped as (
    select
        slice_key,
        score,
        k,
        is_share,
        count(*) as task_count,
        cast(sum(rollout_count) as bigint) as rollout_count,
        count(variance) as repeated_task_count,
        min(value) as value_min,
        max(value) as value_max,
        {{ in_order }} as task_values,
        {{ list_mean(in_order) }} as value,
        {{ sum_in_order('rollout_sum', ['task_key']) }} as rollout_sum,
        {{ sum_in_order('noise', ['task_key']) }} as noise_sum,
        {{ sum_in_order('variance', ['task_key']) }} as variance_sum
    from {{ ref('int_task_scores') }}
    group by
        slice_key,
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
        slice_key,
        score,
        k,
        is_share,
        task_count,
        rollout_count,
        task_values,
        value,
        rollout_value,
        {{ mean_std_error('task_values', 'value', 'value_min', 'value_max') }}
            as std_error,
        -- no noise where it was seen says little about where it could not be seen
        case
            when all_noise_sum > 0 or repeated_task_count = task_count
                then {{ finite('all_noise_sum') }}
        end as noise_sum
    from filled
)

select * from scores
