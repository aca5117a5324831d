with

agent_repeats as (
    select * from {{ ref('agent_repeats') }}
)

select * from agent_repeats
