-- How many tasks there would be if no stratum ran short. A curriculum has a fixed
-- size: other strata fill up for those that run short. A target without a limit is as
-- large as possible while 90 % of it can be filled.
with

recipe as (
    select * from {{ ref('stg_recipes') }}
),

strata as (
    select
        shares.*,
        shares.task_count / shares.share as short_from,
        least(
            sum(shares.task_count) over (),
            recipe.steps * recipe.prompts_per_step,
            coalesce(recipe.at_most, sum(shares.task_count) over ())
        ) as wanted_count
    from {{ ref('int_stratum_shares') }} as shares
    cross join recipe
    where shares.share > 0
),

short as (
    select
        short_from,
        wanted_count,
        sum(task_count) over (order by short_from) as short_count,
        1 - sum(share) over (order by short_from) as other_share
    from strata
),

-- sizes to try: at each size where a stratum begins to run short, the others may
-- fill up for all that do
guesses as (
    select
        short_from as size,
        wanted_count
    from short
    union
    select
        1e0 * wanted_count as size,
        wanted_count
    from short
    union
    select
        (wanted_count - short_count) / other_share as size,
        wanted_count
    from short
    where other_share > 1e-9
),

filled as (
    select
        guesses.size,
        guesses.wanted_count,
        sum(least(shares.task_count, guesses.size * shares.share)) as filled_count
    from guesses
    cross join {{ ref('int_stratum_shares') }} as shares
    group by
        guesses.size,
        guesses.wanted_count
),

-- a little less, because sums of doubles are not exact
fitting as (
    select
        min(case when filled_count >= wanted_count - 1e-6 then size end)
            as curriculum_size,
        max(case when filled_count >= 0.9e0 * size - 1e-6 then size end) as target_size
    from filled
),

sizes as (
    select
        case
            when recipe.task_order = 'curriculum' then fitting.curriculum_size
            else coalesce(1e0 * recipe.at_most, fitting.target_size)
        end as size
    from fitting
    cross join recipe
)

select * from sizes
