-- what further rollouts of an undecided task may bring, and whether the rules could
-- then decide
with

records as (
    select distinct
        rollout_count,
        pass_count
    from {{ ref('int_selected_tasks') }}
    where reason = 'undecided'
),

numbers as (
    select {{ numbers_to(65) }} as number
),

futures as (
    select
        records.rollout_count,
        records.pass_count,
        further.number as more_rollouts,
        passing.number - 1 as more_passes,
        records.rollout_count + more_rollouts as rollouts,
        records.pass_count + more_passes as passes,
        {{ wilson_bound('passes', 'rollouts', '-') }} as pass_low,
        {{ wilson_bound('passes', 'rollouts', '+') }} as pass_high
    from records
    inner join numbers as further on further.number <= 64
    inner join numbers as passing on further.number >= passing.number - 1
),

judged as (
    select
        futures.rollout_count,
        futures.pass_count,
        futures.more_rollouts,
        futures.more_passes,
        futures.rollouts,
        futures.passes,
        futures.pass_high < recipe.lowest_pass_ratio
        or futures.pass_low > recipe.highest_pass_ratio
        or (
            futures.pass_low >= recipe.lowest_pass_ratio
            and futures.pass_high <= recipe.highest_pass_ratio
        ) as is_decided
    from futures
    cross join {{ ref('int_recipe') }} as recipe
)

select * from judged
