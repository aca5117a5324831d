with

failures as (
    select * from {{ ref('stg_failures') }}
    where is_readable
),

-- an attempt without a materialized input counts for the agent that its line names
attempts as (
    select
        failures.run_id,
        failures.task_index,
        failures.rollout_index,
        failures.failure_class,
        failures.is_terminal,
        coalesce(expected.agent_name, failures.agent_name, '(unknown)') as agent_name,
        coalesce(expected.is_completed, false) as is_completed,
        coalesce(not expected.is_completed, false) as is_lost
    from failures
    left join {{ ref('int_expected_rollouts') }} as expected
        using (run_id, task_index, rollout_index)
)

select * from attempts
