-- Every line of the rollouts becomes one row of rollout_infos.
with

lines as (
    select
        run_id,
        count(*) as row_count
    from {{ ref('stg_rollouts') }}
    where is_readable
    group by run_id
),

infos as (
    select
        run_id,
        count(*) as row_count
    from {{ ref('rollout_infos') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by run_id
)

select
    lines.run_id as line_run_id,
    infos.run_id as info_run_id
from lines
full outer join infos using (run_id)
where (lines.row_count = infos.row_count) is not true
