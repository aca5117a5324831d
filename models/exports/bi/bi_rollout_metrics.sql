with

rollout_metrics as (
    select * from {{ ref('rollout_metrics') }}
)

select * from rollout_metrics
