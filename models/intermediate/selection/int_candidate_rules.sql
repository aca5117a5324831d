with

recipe as (
    select * from {{ ref('int_recipe') }}
),

excluded_ids as (
    select task_id from {{ ref('int_excluded_tasks') }}
    where is_readable
),

excluded_prompts as (
    select prompt from {{ ref('int_excluded_tasks') }}
    where prompt != ''
),

-- the first rule that applies is the reason; a task to top up may look flat only so far
judged as (
    select
        tasks.*,
        recipe.undecided as undecided_fate,
        case
            when tasks.task_id in (select excluded_ids.task_id from excluded_ids)
                or tasks.prompt in (
                    select excluded_prompts.prompt from excluded_prompts
                )
                then 'excluded'
            when recipe.drops_masked and tasks.is_masked then 'masked'
            when recipe.drops_unhealthy and tasks.is_unhealthy then 'unhealthy'
            when recipe.drops_truncated and tasks.is_truncated then 'truncated'
            when tasks.is_too_hard then 'too_hard'
            when tasks.is_too_easy then 'too_easy'
            when recipe.undecided = 'top_up' and not tasks.is_within_bounds
                then 'undecided'
            when recipe.drops_zero_variance and tasks.is_flat then 'zero_variance'
            when tasks.is_within_bounds then 'within_bounds'
            else 'undecided'
        end as reason
    from {{ ref('int_candidate_bounds') }} as tasks
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
