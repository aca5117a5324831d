with

-- a sum of doubles depends on its order: each group is a list in the order of tasks
grouped as (
    select
        slices.slice_key,
        chances.has_answers,
        chances.k,
        count(*) as task_count,
        count(case when chances.is_last then 1 end) as last_count,
        {{ list_in_order(record(k_figures()), ['chances.task_key']) }} as tasks
    from {{ ref('int_k_chances') }} as chances
    inner join {{ ref('int_task_slices') }} as slices
        on chances.task_key = slices.task_key
    group by
        slices.slice_key,
        chances.has_answers,
        chances.k
),

summed as (
    select
        slice_key,
        has_answers,
        k,
        task_count,
        last_count,
        {{ list_field('tasks', 'pass_at_k') }} as pass_at_k_values,
        {{ list_field('tasks', 'pass_hat_k') }} as pass_hat_k_values,
        {{ k_sums('tasks') }}
    from grouped
),

carried_on as (
    select
        slice_key,
        has_answers,
        k,
        task_count,
        task_count + {{ integer('coalesce(sum(last_count) over smaller_k, 0)') }}
            as all_task_count,
        first_value(last_count) over all_k as single_task_count,
        lead(k) over all_k is null as is_headline,
        pass_at_k_values,
        pass_hat_k_values,
        {{ carried_sums('smaller_k') }}
    from summed
    window
        all_k as (partition by slice_key order by k),
        smaller_k as (
            partition by slice_key order by k
            rows between unbounded preceding and 1 preceding
        )
)

select * from carried_on
