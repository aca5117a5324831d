-- Sizes to try. At each size where a stratum begins to run short, the others may
-- fill up for all that do.
with

recipe as (
    select * from {{ ref('int_recipe') }}
),

strata as (
    select
        *,
        task_count / share as short_from,
        sum(task_count) over () as total_count
    from {{ ref('int_target_strata') }}
    where share > 0
),

wanted as (
    select
        strata.*,
        least(
            strata.total_count,
            recipe.steps * recipe.prompts_per_step,
            coalesce(recipe.at_most, strata.total_count)
        ) as wanted_count
    from strata
    cross join recipe
),

short as (
    select
        short_from,
        wanted_count,
        sum(task_count) over (order by short_from) as short_count,
        1 - sum(share) over (order by short_from) as other_share
    from wanted
),

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
)

select * from guesses
