with

rollouts as (
    select
        run_id,
        agent_name,
        failure_class,
        task_index,
        rollout_index,
        is_completed,
        is_lost,
        count(*) as attempt_count,
        count(case when is_terminal then 1 end) as terminal_attempt_count
    from {{ ref('int_failed_attempts') }}
    group by
        run_id,
        agent_name,
        failure_class,
        task_index,
        rollout_index,
        is_completed,
        is_lost
),

classes as (
    select
        run_id,
        agent_name,
        failure_class,
        cast(sum(attempt_count) as bigint) as attempt_count,
        cast(sum(terminal_attempt_count) as bigint) as terminal_attempt_count,
        count(*) as rollout_count,
        count(case when is_completed then 1 end) as recovered_rollout_count,
        count(case when is_lost then 1 end) as lost_rollout_count
    from rollouts
    group by
        run_id,
        agent_name,
        failure_class
)

select * from classes
