-- The runner of a rollout is its environment server, or the agent if none is known. Its
-- label is the agent's name, or its own name if other servers front the agent too.
with recursive

-- a server that fronts several agents takes the first one that is not masked
runners as (
    select
        run_id,
        runner,
        min_by(input_agent_name, (is_masked, task_index, rollout_index)) filter (
            where input_agent_name is not null
        ) as agent_name,
        bool_or(not is_masked) as is_counted
    from {{ ref('int_rollouts_keyed') }}
    where runner is not null
    group by
        run_id,
        runner
),

-- a runner whose rollouts are all masked does not change the labels of the others
counted as (
    select
        *,
        agent_name is null or agent_name = runner or case
            when is_counted then count(case when is_counted then 1 end) over same_agent
            else count(*) over same_agent
        end > 1 as is_own_name
    from runners
    window same_agent as (partition by run_id, agent_name)
),

-- recursive: a runner keeps its own name if another runner is called like its agent
own_names (run_id, runner, is_counted) as (
    select
        run_id,
        runner,
        is_counted
    from counted
    where is_own_name
    union all
    select
        counted.run_id,
        counted.runner,
        counted.is_counted
    from counted
    inner join own_names
        on counted.run_id = own_names.run_id
        and counted.agent_name = own_names.runner
    where not counted.is_own_name and (own_names.is_counted or not counted.is_counted)
),

labels as (
    select
        counted.run_id,
        counted.runner,
        case
            when own_names.runner is null then counted.agent_name
            else counted.runner
        end as agent_name
    from counted
    left join own_names using (run_id, runner)
)

select * from labels
