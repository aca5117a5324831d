with

rollout_health as (
    select * from {{ ref('rollout_health') }}
)

select * from rollout_health
