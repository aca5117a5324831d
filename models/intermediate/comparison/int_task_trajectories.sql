with

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
    from {{ ref('int_trajectory_runs') }} as members
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
