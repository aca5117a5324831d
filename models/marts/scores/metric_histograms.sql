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
        ) - 1 as value_index,
        least(
            19,
            floor((counted.value / 2 - ranges.low / 2) / nullif(ranges.half_width, 0))
        ) as rough_index
    from counted
    inner join ranges using (run_id, metric)
),

-- the division may round a value across a bound of its bin
settled as (
    select
        *,
        case
            when value < (low / 2 + rough_index * half_width) * 2 then rough_index - 1
            when rough_index < 19
                and value >= (low / 2 + (rough_index + 1) * half_width) * 2
                then rough_index + 1
            else rough_index
        end as width_index
    from placed
),

bins as (
    select
        run_id,
        agent_name,
        metric,
        cast(case when is_single_value then value_index else width_index end as bigint)
            as bin_index,
        case
            when is_single_value then value
            else (low / 2 + width_index * half_width) * 2
        end as bin_low,
        case
            when is_single_value then value
            when width_index = 19 then high
            else (low / 2 + (width_index + 1) * half_width) * 2
        end as bin_high,
        is_single_value,
        cast(sum(rollout_count) as bigint) as rollout_count
    from settled
    group by
        run_id,
        agent_name,
        metric,
        bin_index,
        bin_low,
        bin_high,
        is_single_value
),

shared as (
    select
        *,
        rollout_count / sum(rollout_count) over (
            partition by run_id, agent_name, metric
        ) as rollout_ratio
    from bins
)

select * from shared
