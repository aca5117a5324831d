with

-- each mean if all of its unknown rollouts had the lowest or the highest value
bounded as (
    select
        *,
        {{ filled_mean(
            'baseline_value', 'baseline_rollout_count',
            'baseline_unknown_count', 'lowest'
        ) }}
            as baseline_lowest,
        {{ filled_mean(
            'baseline_value', 'baseline_rollout_count',
            'baseline_unknown_count', 'highest'
        ) }}
            as baseline_highest,
        {{ filled_mean('value', 'rollout_count', 'unknown_count', 'lowest') }}
            as value_lowest,
        {{ filled_mean('value', 'rollout_count', 'unknown_count', 'highest') }}
            as value_highest
    from {{ ref('int_compared_scores') }}
),

-- rewards may be so large that what is between them overflows
differences as (
    select
        task_key,
        pair_key,
        score,
        least(highest - lowest, 1e308) as value_range,
        baseline_value,
        value,
        {{ finite('value - baseline_value') }} as difference,
        {{ finite('value_lowest - baseline_highest') }} as difference_lowest,
        {{ finite('value_highest - baseline_lowest') }} as difference_highest,
        baseline_variance,
        variance,
        baseline_rollout_count,
        rollout_count,
        baseline_unknown_count + unknown_count as unknown_count,
        baseline_rollout_count = 1 and rollout_count = 1
        and baseline_value in (0, 1) and value in (0, 1) as is_binary
    from bounded
)

select * from differences
