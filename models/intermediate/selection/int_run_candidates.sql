with

chosen as (
    select candidates.*
    from {{ ref('curation_candidates') }} as candidates
    inner join {{ ref('int_recipe') }} as recipe
        on candidates.run_id = recipe.run_id
        and candidates.agent_name = coalesce(recipe.agent_name, candidates.agent_name)
),

-- the first rollout of a task names the line of the inputs that is written
firsts as (
    select
        run_id,
        task_index,
        agent_name,
        min(rollout_index) as rollout_index
    from {{ ref('rollout_infos') }}
    group by
        run_id,
        task_index,
        agent_name
),

candidates as (
    select
        chosen.*,
        firsts.rollout_index,
        {{ one_spaced('lower(profiles.prompt)') }} as prompt,
        coalesce(profiles.missing_rollout_count, 0) as missing_rollout_count
    from chosen
    inner join firsts using (run_id, task_index, agent_name)
    left join {{ ref('task_profiles') }} as profiles
        using (run_id, task_index, agent_name)
)

select * from candidates
