-- the expected best and worst reward of k, from each task's rewards in rising order
with

ranked as (
    select
        scored.task_key,
        scored.reward,
        outcomes.rollout_count,
        row_number() over (
            partition by scored.task_key order by scored.reward, scored.place
        ) as height
    from {{ ref('int_scored_rollouts') }} as scored
    inner join {{ ref('int_task_outcomes') }} as outcomes using (task_key)
),

-- a reward's weight depends on its rank and the number of rollouts: sum up first
heights as (
    select
        slices.slice_key,
        ranked.rollout_count,
        ranked.height,
        {{ sum_in_order('ranked.reward', ['ranked.task_key']) }} as reward_sum
    from ranked
    inner join {{ ref('int_task_slices') }} as slices using (task_key)
    group by
        slices.slice_key,
        ranked.rollout_count,
        ranked.height
),

-- not every k: thousands of repeats would give millions of pairs
drawn as (
    select
        heights.*,
        means.k
    from heights
    inner join {{ ref('int_slice_k_means') }} as means
        on heights.slice_key = means.slice_key
        and heights.rollout_count >= means.k
    where means.k <= 64 or means.is_headline or bit_count(means.k) = 1
),

order_sums as (
    select
        slice_key,
        k,
        {{ sum_in_order(
            order_weight('height - 1', 'rollout_count', 'k') ~ ' * reward_sum',
            ['rollout_count', 'height']
        ) }} as max_sum,
        {{ sum_in_order(
            order_weight('rollout_count - height', 'rollout_count', 'k') ~ ' * reward_sum',
            ['rollout_count', 'height']
        ) }} as min_sum
    from drawn
    group by
        slice_key,
        k
)

select * from order_sums
