with

pairs as (
    select * from {{ ref('int_compared_runs') }}
),

-- the first and the last of all runs that are compared together
ends as (
    select pairs.*
    from pairs
    left join pairs as earlier on pairs.baseline_run_id = earlier.run_id
    left join pairs as later on pairs.run_id = later.baseline_run_id
    where earlier.pair_key is null and later.pair_key is null
),

-- a run that was compared with both ends lies between them
members as (
    select
        pair_key,
        baseline_run_id as run_id,
        baseline_agent_name as agent_name,
        'first' as place
    from ends
    union all
    select
        pair_key,
        run_id,
        agent_name,
        'last' as place
    from ends
    union all
    select
        ends.pair_key,
        earlier.run_id,
        earlier.agent_name,
        'between' as place
    from ends
    inner join pairs as earlier
        on ends.baseline_run_id = earlier.baseline_run_id
        and ends.baseline_agent_name = earlier.baseline_agent_name
    inner join pairs as later
        on ends.run_id = later.run_id and ends.agent_name = later.agent_name
        and earlier.run_id = later.baseline_run_id
        and earlier.agent_name = later.baseline_agent_name
)

select * from members
