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
        on scored.run_id = outcomes.run_id
        and scored.agent_name = outcomes.agent_name
        and scored.task_index = outcomes.task_index
),

-- a reward's weight depends on its height and the number of rollouts: add up first
heights as (
    select
        slices.run_id,
        slices.agent_name,
        slices.slice_by,
        slices.slice_value,
        ranked.rollout_count,
        ranked.height,
        {{ sum_in_order('ranked.reward', 'ranked.task_index') }}
            as reward_sum
    from ranked
    inner join {{ ref('int_task_slices') }} as slices
        on ranked.run_id = slices.run_id
        and ranked.agent_name = slices.agent_name
        and ranked.task_index = slices.task_index
    group by
        slices.run_id,
        slices.agent_name,
        slices.slice_by,
        slices.slice_value,
        ranked.rollout_count,
        ranked.height
),

weighted as (
    select
        *,
        {{ log_choose('rollout_count', 'k') }} as log_ways
    from (select *, {{ numbers_to('rollout_count') }} as k from heights) as drawn
),

order_sums as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        k,
        {{ list_sum(list_in_order(
            'case when height >= k then reward_sum * exp('
            ~ log_choose('height - 1', 'k - 1') ~ ' - log_ways) end',
            ['rollout_count', 'height']
        )) }} as max_sum,
        {{ list_sum(list_in_order(
            'case when rollout_count - height >= k - 1 then reward_sum * exp('
            ~ log_choose('rollout_count - height', 'k - 1') ~ ' - log_ways) end',
            ['rollout_count', 'height']
        )) }} as min_sum
    from weighted
    group by
        run_id,
        agent_name,
        slice_by,
        slice_value,
        k
)

select * from order_sums
