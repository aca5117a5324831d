with

rollouts as (
    select * from {{ ref('stg_rollouts') }}
),

duplicated as (
    select
        run_id,
        task_index,
        rollout_index,
        count(*) as line_count
    from rollouts
    where is_readable
    group by
        run_id,
        task_index,
        rollout_index
    having count(*) > 1
)

select * from duplicated
