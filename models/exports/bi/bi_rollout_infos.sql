with

rollout_infos as (
    select * from {{ ref('rollout_infos') }}
)

select * from rollout_infos
