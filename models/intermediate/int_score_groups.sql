with

grouped as (
    select
        slice_key,
        score,
        k,
        is_share,
        count(*) as task_count,
        {{ integer('sum(rollout_count)') }} as rollout_count,
        count(variance) as repeated_task_count,
        {{ list_in_order(
            record(['value', 'variance', 'noise', 'rollout_sum']), ['task_key']
        ) }} as tasks
    from {{ ref('int_task_scores') }}
    group by
        slice_key,
        score,
        k,
        is_share
),

measured as (
    select
        slice_key,
        score,
        k,
        is_share,
        task_count,
        repeated_task_count,
        rollout_count,
        {{ list_field('tasks', 'value') }} as task_values,
        {{ list_mean(list_field('tasks', 'value')) }} as value,
        case
            when k is null
                then {{ list_sum(list_field('tasks', 'rollout_sum')) }} / rollout_count
        end as rollout_value,
        -- a task with one rollout takes the mean variance of the others
        case
            when repeated_task_count > 0
                then {{ list_sum(list_field('tasks', 'noise')) }}
                    + {{ list_sum(list_field('tasks', 'variance')) }}
                    * (task_count - repeated_task_count) / repeated_task_count
        end as noise_sum
    from grouped
),

described as (
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
        -- no noise in repeated tasks says little about tasks with one rollout
        case
            when noise_sum > 0 or repeated_task_count = task_count
                then {{ finite('noise_sum') }}
        end as noise_sum
    from measured
)

select * from described
