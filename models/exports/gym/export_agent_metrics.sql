with

agents as (
    select distinct
        run_id,
        agent_name
    from {{ ref('rollout_infos') }}
),

statistics as (
    select
        run_id,
        agent_name,
        {{ text_in_order(stat_members(), ['metric']) }} as members
    from {{ ref('agent_metrics') }}
    group by
        run_id,
        agent_name
),

-- an agent without any number is still one
lines as (
    select
        agents.run_id,
        agents.agent_name,
        '{' || coalesce(statistics.members || ',', '')
        || '"agent_ref":{"name":' || {{ json_string('agents.agent_name') }} || '}}'
            as line
    from agents
    left join statistics
        on agents.run_id = statistics.run_id
        and agents.agent_name = statistics.agent_name
)

select * from lines
