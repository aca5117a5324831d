with

agent_reliability as (
    select * from {{ ref('agent_reliability') }}
)

select * from agent_reliability
