with

inputs as (
    select * from {{ ref('stg_inputs') }}
),

duplicated as (
    select
        run_id,
        task_index,
        rollout_index,
        count(*) as line_count
    from inputs
    where is_readable
    group by
        run_id,
        task_index,
        rollout_index
    having count(*) > 1
)

select * from duplicated
