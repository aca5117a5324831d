-- the expected best and worst reward of k, from each task's rewards in rising order
with

ranked as (
    select
        scored.run_id,
        scored.agent_name,
        scored.task_index,
        scored.reward,
        outcomes.rollout_count,
        row_number() over (
            partition by scored.run_id, scored.agent_name, scored.task_index
            order by scored.reward, scored.place
        ) as height
    from {{ ref('int_scored_rollouts') }} as scored
    inner join {{ ref('int_task_outcomes') }} as outcomes
        using (run_id, agent_name, task_index)
),

-- a reward's weight depends on its rank and the number of rollouts: sum up first
heights as (
    select
        ranked.run_id,
        ranked.agent_name,
        slices.slice_by,
        slices.slice_value,
        ranked.rollout_count,
        ranked.height,
        {{ sum_in_order('ranked.reward', ['ranked.task_index']) }} as reward_sum
    from ranked
    inner join {{ ref('int_task_slices') }} as slices
        using (run_id, agent_name, task_index)
    group by
        ranked.run_id,
        ranked.agent_name,
        slices.slice_by,
        slices.slice_value,
        ranked.rollout_count,
        ranked.height
),

-- not every k: thousands of repeats would give millions of pairs
counts as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        k,
        lead(k) over (
            partition by run_id, agent_name, slice_by, slice_value order by k
        ) is null as is_headline
    from {{ ref('int_slice_k_means') }}
),

drawn as (
    select
        heights.*,
        counts.k
    from heights
    inner join counts using (run_id, agent_name, slice_by, slice_value)
    where heights.rollout_count >= counts.k
        and (counts.k <= 64 or counts.is_headline or bit_count(counts.k) = 1)
),

order_sums as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
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
        run_id,
        agent_name,
        slice_by,
        slice_value,
        k
)

select * from order_sums
