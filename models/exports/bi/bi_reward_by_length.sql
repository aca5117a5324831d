with

reward_by_length as (
    select * from {{ ref('reward_by_length') }}
)

select * from reward_by_length
