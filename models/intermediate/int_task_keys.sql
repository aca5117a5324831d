with

tasks as (
    select distinct
        run_id,
        agent_name,
        task_index
    from {{ ref('int_rollouts_matched') }}
),

-- one number in place of three columns: later models sort and join by it
keyed as (
    select
        run_id,
        agent_name,
        task_index,
        row_number() over (order by run_id, agent_name, task_index) as task_key
    from tasks
)

select * from keyed
