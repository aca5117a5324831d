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
),

banded as (
    select
        members.pair_key,
        members.place,
        bands.task_id,
        bands.task_index,
        bands.band,
        row_number() over (
            partition by
                members.pair_key,
                members.run_id,
                members.agent_name,
                bands.task_id
            order by bands.task_index
        ) as occurrence
    from members
    inner join {{ ref('task_bands') }} as bands using (run_id, agent_name)
),

-- tasks of both ends, whatever the runs between them have
grouped as (
    select
        pair_key,
        task_id,
        occurrence,
        max(case when place = 'first' then band end) as first_band,
        max(case when place = 'last' then band end) as last_band,
        max(case when place = 'last' then task_index end) as task_index,
        count(*) as run_count,
        count(case when band = 'solved' then 1 end) as solved_count,
        count(case when band = 'unsolved' then 1 end) as unsolved_count
    from banded
    group by
        pair_key,
        task_id,
        occurrence
    having count(case when place = 'first' then 1 end) = 1
        and count(case when place = 'last' then 1 end) = 1
),

trajectories as (
    select
        *,
        case
            when last_band = 'undecided' then 'undecided'
            when last_band = 'solved' and first_band = 'solved' then 'kept'
            when last_band = 'solved' and first_band != 'undecided' then 'mastered'
            when last_band != 'solved' and solved_count > 0 then 'forgotten'
            when unsolved_count = run_count then 'stuck'
            when first_band = 'unsolved' and last_band = 'learnable'
                then 'newly learnable'
            when first_band = 'undecided' then 'undecided'
            else 'other'
        end as trajectory
    from grouped
)

select * from trajectories
