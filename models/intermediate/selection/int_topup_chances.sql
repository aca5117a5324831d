-- The smallest number of further rollouts after which the rules may decide, and the
-- chance that they do, if every pass rate was equally likely before the first rollout.
with

records as (
    select distinct
        rollout_count,
        pass_count
    from {{ ref('selected_tasks') }}
    where reason = 'undecided'
),

numbers as (
    select {{ numbers_to(65) }} as number
),

-- what further rollouts of an undecided task may bring
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

decided as (
    select
        futures.*,
        {{ log_choose('more_rollouts', 'more_passes') }}
        + {{ log_beta('passes + 1', 'rollouts - passes + 1') }}
        - {{ log_beta('pass_count + 1', 'rollout_count - pass_count + 1') }}
            as log_chance
    from futures
    inner join {{ ref('stg_recipes') }} as recipe
        on futures.pass_high < recipe.lowest_pass_ratio
        or futures.pass_low > recipe.highest_pass_ratio
        or (
            futures.pass_low >= recipe.lowest_pass_ratio
            and futures.pass_high <= recipe.highest_pass_ratio
        )
),

chances as (
    select
        rollout_count,
        pass_count,
        more_rollouts,
        {{ sum_in_order('exp(log_chance)', ['more_passes']) }} as chance
    from decided
    group by
        rollout_count,
        pass_count,
        more_rollouts
    qualify
        row_number() over (
            partition by rollout_count, pass_count order by more_rollouts
        ) = 1
)

select * from chances
