with

tasks as (
    select
        run_id,
        agent_name,
        task_index,
        count(case when is_measured then 1 end) as measured_count
    from {{ ref('int_rollouts_matched') }}
    group by
        run_id,
        agent_name,
        task_index
),

-- one number in place of three columns: later models sort and join by it
keyed as (
    select
        run_id,
        agent_name,
        task_index,
        measured_count,
        cast(row_number() over (order by run_id, agent_name, task_index) as bigint)
            as task_key
    from tasks
)

select * from keyed
