with

recipe as (
    select * from {{ ref('stg_recipes') }}
),

exclusions as (
    select * from {{ ref('stg_excluded_tasks') }}
    where is_readable
),

-- the first rollout of a task names the line of the inputs that is written
firsts as (
    select
        run_id,
        task_index,
        agent_name,
        min(rollout_index) as rollout_index
    from {{ ref('rollout_infos') }}
    where run_id in (select recipe.run_id from recipe)
    group by
        run_id,
        task_index,
        agent_name
),

-- what the rules look at: bounds of the pass rate, and whether all outcomes are equal
candidates as (
    select
        candidates.*,
        firsts.rollout_index,
        {{ one_spaced('lower(profiles.prompt)') }} as prompt,
        coalesce(profiles.missing_rollout_count, 0) as missing_rollout_count,
        md5(concat_ws('-', recipe.seed, candidates.task_id, candidates.task_index))
            as draw,
        case
            when recipe.decided_on = 'point' then candidates.pass_ratio
            else candidates.pass_low
        end as lower_bound,
        case
            when recipe.decided_on = 'point' then candidates.pass_ratio
            else candidates.pass_high
        end as upper_bound,
        case
            when recipe.outcome = 'reward' then candidates.is_zero_variance
            else candidates.is_zero_outcome_variance
        end as is_flat
    from {{ ref('curation_candidates') }} as candidates
    inner join firsts using (run_id, task_index, agent_name)
    left join {{ ref('task_profiles') }} as profiles
        using (run_id, task_index, agent_name)
    inner join recipe
        on candidates.run_id = recipe.run_id
        and candidates.agent_name = coalesce(recipe.agent_name, candidates.agent_name)
),

-- the first rule that applies is the reason; a task to top up may look flat only so far
judged as (
    select
        tasks.*,
        recipe.undecided as undecided_fate,
        recipe.lowest_pass_ratio is null
        or coalesce(
            tasks.lower_bound >= recipe.lowest_pass_ratio
            and tasks.upper_bound <= recipe.highest_pass_ratio,
            false
        ) as is_within_bounds,
        case
            when tasks.task_id in (select exclusions.task_id from exclusions)
                or tasks.prompt in (select exclusions.prompt from exclusions)
                then 'excluded'
            when recipe.drops_masked and tasks.is_masked then 'masked'
            when recipe.drops_unhealthy and tasks.is_unhealthy then 'unhealthy'
            when recipe.drops_truncated and tasks.is_truncated then 'truncated'
            when tasks.upper_bound < recipe.lowest_pass_ratio then 'too_hard'
            when tasks.lower_bound > recipe.highest_pass_ratio then 'too_easy'
            when recipe.undecided = 'top_up' and not is_within_bounds then 'undecided'
            when recipe.drops_zero_variance and tasks.is_flat then 'zero_variance'
            when is_within_bounds then 'within_bounds'
            else 'undecided'
        end as reason
    from candidates as tasks
    cross join recipe
),

fates as (
    select
        *,
        case
            when reason = 'within_bounds' then 'keep'
            when reason = 'undecided' then undecided_fate
            else 'drop'
        end as fate
    from judged
)

select * from fates
