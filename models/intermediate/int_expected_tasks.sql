with

-- Nothing here is matched, but no mart may see inputs that an audit refuses.
-- depends_on: {{ ref('int_rollouts_matched') }}
inputs as (
    select * from {{ ref('stg_inputs') }}
),

tasks as (
    select
        run_id,
        task_index,
        count(*) as expected_num_rollouts,
        max(task_id) as task_id,
        max(prompt) as prompt,
        max(sample) as sample
    from inputs
    group by
        run_id,
        task_index
)

select * from tasks
