with

agents as (
    select * from {{ ref('agent_metrics') }}
),

lines as (
    select
        run_id,
        agent_name,
        '{' || {{ text_in_order(stat_members(), ['metric']) }}
        || ',"agent_ref":{"name":' || {{ json_string('agent_name') }} || '}}' as line
    from agents
    group by
        run_id,
        agent_name
)

select * from lines
