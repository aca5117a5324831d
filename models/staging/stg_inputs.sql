with

inputs as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        server_name,
        task_index is not null
        and rollout_index is not null
        and not has_repeated_name as is_readable
    from {{ ref('base_inputs') }}
)

select * from inputs
