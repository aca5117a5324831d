with

agent_metrics as (
    select * from {{ ref('agent_metrics') }}
)

select * from agent_metrics
