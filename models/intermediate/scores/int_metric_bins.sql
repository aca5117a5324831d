with

-- group equal values first: they are far fewer than the rollouts
counted as (
    select
        run_id,
        agent_name,
        metric,
        value,
        count(*) as rollout_count
    from {{ ref('int_rollout_metrics') }}
    where is_usable
    group by
        run_id,
        agent_name,
        metric,
        value
),

-- all agents of a run share the bins; halves of values cannot overflow
ranges as (
    select
        run_id,
        metric,
        min(value) as low,
        max(value) as high,
        (max(value) / 2 - min(value) / 2) / 20 as half_width,
        count(distinct value) as value_count
    from counted
    group by
        run_id,
        metric
),

placed as (
    select
        counted.*,
        ranges.low,
        ranges.high,
        ranges.half_width,
        ranges.value_count <= 20 or ranges.half_width = 0 as is_single_value,
        dense_rank() over (
            partition by counted.run_id, counted.metric order by counted.value
        ) - 1 as value_index
    from counted
    inner join ranges using (run_id, metric)
),

-- the division may round a value across a bound of its bin
settled as (
    select
        *,
        least(19, floor((value / 2 - low / 2) / nullif(half_width, 0))) as rough_index,
        case
            when value < (low / 2 + rough_index * half_width) * 2 then rough_index - 1
            when rough_index < 19
                and value >= (low / 2 + (rough_index + 1) * half_width) * 2
                then rough_index + 1
            else rough_index
        end as width_index
    from placed
)

select * from settled
