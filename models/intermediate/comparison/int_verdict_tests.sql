-- of second verdicts on the same rollouts; that of a comparison is in
-- int_comparison_verdicts
with

sums as (
    select
        *,
        rising_task_count + falling_task_count as changed_count,
        least(rising_task_count, falling_task_count) as fewer_count,
        sqrt(chi_square) as z_distance
    from {{ ref('int_verdict_intervals') }}
),

-- the chi-square distribution with one degree of freedom is that of a squared normal
tails as (
    select
        sums.pair_key,
        {{ sum_in_order(
            normal_tail_term('sums.z_distance', 'nodes.place', 'nodes.weight'), ['nodes.node']
        ) }} as tail
    from sums
    cross join {{ ref('quadrature_nodes') }} as nodes
    group by sums.pair_key
),

places as (
    select
        pair_key,
        changed_count,
        {{ numbers_to('fewer_count', first=0) }} as place
    from sums
),

-- of the tasks that changed, each is as likely to fall as to rise
signs as (
    select
        pair_key,
        {{ sum_in_order(coin_chance('changed_count', 'place'), ['place']) }} as tail
    from places
    group by pair_key
),

-- the approximation needs as many changes as McNemar's usually does
tests as (
    select
        sums.pair_key,
        case when sums.changed_count < 25 then 'sign' else 'clustered_mcnemar' end
            as test,
        case
            when sums.changed_count < 25 then least(1e0, 2 * signs.tail)
            else least(1e0, tails.tail)
        end as p_value
    from sums
    inner join tails using (pair_key)
    inner join signs using (pair_key)
)

select * from tests
