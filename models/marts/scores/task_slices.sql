with

-- the slice `all` is left out: every task is in it
task_slices as (
    select
        slices.run_id,
        slices.task_index,
        slices.agent_name,
        slices.slice_by,
        slices.slice_value,
        cast(
            nullif(array_position(runs.slice_by, slices.slice_by), 0) - 1 as bigint
        ) as slice_by_index
    from {{ ref('int_task_slices') }} as slices
    inner join {{ ref('stg_runs') }} as runs on slices.run_id = runs.run_id
    where slices.slice_by != 'all'
)

select * from task_slices
