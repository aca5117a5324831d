-- How many tasks there would be if no stratum ran short. A curriculum has a fixed
-- size: other strata fill up for those that run short. A target without a limit is as
-- large as possible while 90 % of it can be filled.
with

recipe as (
    select * from {{ ref('int_recipe') }}
),

filled as (
    select
        guesses.size,
        guesses.wanted_count,
        sum(least(strata.task_count, guesses.size * strata.share)) as filled_count
    from {{ ref('int_target_guesses') }} as guesses
    cross join {{ ref('int_target_strata') }} as strata
    group by
        guesses.size,
        guesses.wanted_count
),

-- a little less, because sums of doubles are not exact
sizes as (
    select
        min(case when filled_count >= wanted_count - 1e-6 then size end)
            as curriculum_size,
        max(case when filled_count >= 0.9e0 * size - 1e-6 then size end) as target_size
    from filled
),

scales as (
    select
        case
            when recipe.task_order = 'curriculum' then sizes.curriculum_size
            else coalesce(1e0 * recipe.at_most, sizes.target_size)
        end as scale
    from sizes
    cross join recipe
)

select * from scales
