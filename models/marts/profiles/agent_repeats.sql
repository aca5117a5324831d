with

-- the batch's rows only: the mart holds every run
means as (
    select
        run_id,
        agent_name,
        metric,
        rollout_index,
        value_mean
    from {{ ref('repeat_metrics') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
        and value_mean is not null
        and {{ is_primary_metric('metric') }}
),

spread as (
    select
        run_id,
        agent_name,
        metric,
        count(*) as repeat_count,
        {{ mean_in_order('value_mean', ['rollout_index']) }} as mean_mean,
        {{ finite(median('value_mean')) }} as mean_median,
        case
            when count(*) = 1 then 0e0
            else {{ std_in_order('value_mean', ['rollout_index']) }}
        end as mean_std,
        min(value_mean) as mean_min,
        max(value_mean) as mean_max
    from means
    group by
        run_id,
        agent_name,
        metric
),

bounded as (
    select
        spread.*,
        {{ t_quantile('quantiles.quantile', '(spread.repeat_count - 1)') }} as t
    from spread
    left join {{ ref('t_quantiles') }} as quantiles
        on spread.repeat_count - 1 = quantiles.degrees_of_freedom
),

repeats as (
    select
        run_id,
        agent_name,
        metric,
        repeat_count,
        mean_mean,
        mean_median,
        mean_std,
        mean_min,
        mean_max,
        {{ finite('mean_std / sqrt(repeat_count)') }} as mean_se,
        {{ t_bound('mean_mean', 'mean_std', 'repeat_count', 't', '-') }}
            as mean_ci_low_95,
        {{ t_bound('mean_mean', 'mean_std', 'repeat_count', 't', '+') }}
            as mean_ci_high_95
    from bounded
)

select * from repeats
