with

tasks as (
    select * from {{ ref('int_verdict_tasks') }}
),

-- the rollouts of a task share it, so tasks are the units whose spread counts
sums as (
    select
        pair_key,
        count(*) as task_count,
        cast(sum(rollout_count) as bigint) as rollout_count,
        cast(sum(kept_count) as bigint) as kept_count,
        cast(sum(gained_count) as bigint) as gained_count,
        cast(sum(lost_count) as bigint) as lost_count,
        count(case when net_count > 0 then 1 end) as rising_task_count,
        count(case when net_count < 0 then 1 end) as falling_task_count,
        1e0 * sum(net_count) as net_sum,
        1e0 * sum(net_count * net_count) as square_sum,
        {{ sum_in_order(
            'power(net_count - rollout_count * difference, 2)', ['task_index']
        ) }} as deviation_sum
    from tasks
    group by pair_key
),

-- what is left of a spread of 0 after rounding is 0
errors as (
    select
        *,
        net_sum / rollout_count as difference,
        case
            when task_count < 2 then null
            when deviation_sum < 1e-18 * rollout_count * rollout_count then 0e0
            else sqrt(deviation_sum * task_count / (task_count - 1)) / rollout_count
        end as std_error,
        (task_count - 1) * net_sum * net_sum / (task_count * nullif(square_sum, 0))
            as chi_square
    from sums
)

select * from errors
