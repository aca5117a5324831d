with

agent_scores as (
    select * from {{ ref('agent_scores') }}
)

select * from agent_scores
