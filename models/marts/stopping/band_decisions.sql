with

tests as (
    select * from {{ ref('bound_tests') }}
),

looks as (
    select distinct rollout_count from tests
),

cells as (
    select
        rollout_count,
        {{ numbers_to('rollout_count', first=0) }} as pass_count
    from looks
),

-- a profile of the same rollouts must give the band too
rated as (
    select
        rollout_count,
        pass_count,
        {{ wilson_bound('pass_count', 'rollout_count', '-') }} as pass_low,
        {{ wilson_bound('pass_count', 'rollout_count', '+') }} as pass_high
    from cells
),

-- a bound of 0 or 1 has no test: no rate is beyond it
decisions as (
    select
        rated.rollout_count,
        bounds.band,
        bounds.precedence,
        min(rated.pass_count) as least_passes,
        max(rated.pass_count) as most_passes
    from rated
    inner join {{ ref('band_bounds') }} as bounds
        on rated.pass_low >= bounds.low_at_least
        and rated.pass_high <= bounds.high_at_most
    left join tests as above
        on rated.rollout_count = above.rollout_count
        and bounds.low_at_least = above.bound
    left join tests as below
        on rated.rollout_count = below.rollout_count
        and round(1 - bounds.high_at_most, 9) = below.bound
    where rated.pass_count >= coalesce(above.least_hits, 0)
        and rated.rollout_count - rated.pass_count >= coalesce(below.least_hits, 0)
    group by
        rated.rollout_count,
        bounds.band,
        bounds.precedence
)

select * from decisions
