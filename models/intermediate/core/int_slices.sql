with

slices as (
    select distinct
        slice_key,
        run_id,
        agent_name,
        slice_by,
        slice_value
    from {{ ref('int_task_slices') }}
)

select * from slices
