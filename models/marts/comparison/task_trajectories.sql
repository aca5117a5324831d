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
                members.pair_key, members.run_id, members.agent_name, bands.task_id
            order by bands.task_index
        ) as occurrence
    from {{ ref('int_trajectory_runs') }} as members
    inner join {{ ref('task_bands') }} as bands using (run_id, agent_name)
),

-- tasks of both ends, whatever the runs between them have
tasks as (
    select
        pair_key,
        task_id,
        occurrence,
        max(case when place = 'first' then band end) as first_band,
        max(case when place = 'last' then band end) as last_band,
        max(case when place = 'last' then task_index end) as task_index,
        count(*) as run_count,
        bool_or(band = 'solved') as is_ever_solved,
        bool_and(band = 'unsolved') as is_always_unsolved
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
        pairs.run_id,
        pairs.baseline_run_id,
        pairs.agent_name,
        pairs.baseline_agent_name,
        tasks.task_id,
        cast(tasks.occurrence as bigint) as occurrence,
        tasks.task_index,
        case
            when tasks.last_band = 'undecided' then 'undecided'
            when tasks.last_band = 'solved' and tasks.first_band = 'solved' then 'kept'
            when tasks.last_band = 'solved' and tasks.first_band != 'undecided'
                then 'mastered'
            when tasks.last_band != 'solved' and tasks.is_ever_solved then 'forgotten'
            when tasks.is_always_unsolved then 'stuck'
            when tasks.first_band = 'unsolved' and tasks.last_band = 'learnable'
                then 'newly_learnable'
            when tasks.first_band = 'undecided' then 'undecided'
            else 'other'
        end as trajectory,
        tasks.first_band,
        tasks.last_band,
        tasks.run_count
    from tasks
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
)

select * from trajectories
