with

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
    from {{ ref('int_metric_bins') }}
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
