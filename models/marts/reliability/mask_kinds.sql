with

masked as (
    select
        run_id,
        agent_name,
        coalesce(failure_kind, '(unknown)') as failure_kind,
        task_index,
        failure_reason
    from {{ ref('int_rollouts_matched') }}
    where not is_measured
),

kinds as (
    select
        run_id,
        agent_name,
        failure_kind,
        count(*) as rollout_count,
        count(distinct task_index) as task_count,
        min(failure_reason) as example_reason
    from masked
    group by
        run_id,
        agent_name,
        failure_kind
)

select * from kinds
