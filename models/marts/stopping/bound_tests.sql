-- An exact test after every rollout whether a rate is above a bound. At a rate that is
-- not above it, the chance to ever beat the bound is at most the error limit: after n
-- looks, at most n / (n + 4) of the limit is spent.
with recursive

rules as (
    select * from {{ ref('base_stopping_rules') }}
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

-- The chance of each number of hits at the rate of the bound, if not beaten before. At
-- each look the largest numbers beat it, as long as their chances fit into what may be
-- spent.
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
    select
        bound,
        rollout_count,
        hit_count,
        chance,
        is_beaten,
        coalesce(
            max(case when is_beaten then spent + tail end) over (partition by bound),
            spent
        ) as spent
    from (
        select
            *,
            sum(chance) over (partition by bound order by hit_count desc) as tail,
            spent + tail <= error_limit * rollout_count / (rollout_count + 4e0)
                as is_beaten
        from (
            select
                walks.bound,
                walks.rollout_count + 1 as rollout_count,
                walks.hit_count + outcomes.hit as hit_count,
                sum(
                    walks.chance
                    * case
                        when outcomes.hit = 1 then walks.bound
                        else 1 - walks.bound
                    end
                ) as chance,
                max(walks.spent) as spent,
                max(rules.error_limit) as error_limit
            from walks
            cross join outcomes
            inner join rules on walks.rollout_count < rules.most_rollouts
            where not walks.is_beaten
            group by
                walks.bound,
                walks.rollout_count,
                walks.hit_count + outcomes.hit
        ) as stepped
    ) as looked
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
