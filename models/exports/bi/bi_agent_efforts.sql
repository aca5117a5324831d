with

agent_efforts as (
    select * from {{ ref('agent_efforts') }}
)

select * from agent_efforts
