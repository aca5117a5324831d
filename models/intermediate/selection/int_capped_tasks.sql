-- the tasks that the rules keep, at most so many of a slice
with

recipe as (
    select * from {{ ref('stg_recipes') }}
),

kept as (
    select
        tasks.task_index,
        tasks.agent_name,
        tasks.draw,
        tasks.band,
        tasks.pass_ratio,
        tasks.pass_count,
        tasks.rollout_count,
        slices.slice_value,
        shares.name as share_name,
        row_number() over (partition by slices.slice_value order by tasks.draw)
            as place
    from {{ ref('int_judged_tasks') }} as tasks
    cross join recipe
    left join {{ ref('task_slices') }} as slices
        on tasks.run_id = slices.run_id
        and tasks.task_index = slices.task_index
        and tasks.agent_name = slices.agent_name
        and recipe.slice_by = slices.slice_by
    left join {{ ref('stg_recipe_shares') }} as shares
        on shares.kind = 'slice' and slices.slice_value = shares.name
    where tasks.fate = 'keep'
),

-- strata are tenths of the pass rate; a tenth without a task is not a stratum
capped as (
    select
        kept.*,
        case
            when recipe.target = 'weights' then kept.band
            else cast({{ tenth('kept.pass_count', 'kept.rollout_count') }} as string)
        end as stratum
    from kept
    cross join recipe
    where recipe.slice_by is null
        or recipe.slice_at_most is null
        or kept.place <= recipe.slice_at_most
)

select * from capped
