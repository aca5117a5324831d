-- An exact test after every rollout whether a rate is above a bound. At a rate that is
-- not above it, the chance to ever beat the bound is at most the error limit: after n
-- looks, at most n / (n + 4) of the limit is spent.
with recursive

rules as (
    select * from {{ ref('int_stopping_rules') }}
),

-- that passes are below a bound is that failures are above the rest
bounds as (
    select low_at_least as bound from {{ ref('band_bounds') }}
    where low_at_least > 0
    union
    select round(1 - high_at_most, 9) as bound from {{ ref('band_bounds') }}
    where high_at_most < 1
),

outcomes as (
    select 0 as hit
    union all
    select 1 as hit
),

-- the chance of each number of hits at the rate of the bound, if not beaten before
walks (bound, rollout_count, hit_count, chance, is_beaten, spent) as (
    select
        bounds.bound,
        cast(0 as bigint),
        cast(0 as bigint),
        1e0,
        false,
        0e0
    from bounds
    inner join rules on rules.most_rollouts > 0
    union all
    {{ next_look('walks', 'outcomes', 'rules') }}
),

tests as (
    select
        bound,
        rollout_count,
        coalesce(min(case when is_beaten then hit_count end), max(hit_count) + 1)
            as least_hits
    from walks
    where rollout_count > 0
    group by
        bound,
        rollout_count
)

select * from tests
