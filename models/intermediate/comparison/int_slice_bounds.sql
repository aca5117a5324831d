{%- set order = ['task_key'] -%}
with

-- what the difference could be if every missing, masked or unscored rollout had gone
-- for one run and against the other
grouped as (
    select
        group_key,
        count(*) as task_count,
        cast(sum(unknown_count) as bigint) as unknown_count,
        min(difference_lowest) as lowest_min,
        max(difference_lowest) as lowest_max,
        min(difference_highest) as highest_min,
        max(difference_highest) as highest_max,
        {{ values_in_order('difference_lowest', order) }} as lowest_differences,
        {{ values_in_order('difference_highest', order) }} as highest_differences
    from {{ ref('int_grouped_differences') }}
    group by group_key
    having sum(unknown_count) > 0
),

centered as (
    select
        *,
        {{ list_mean('lowest_differences') }} as difference_lowest,
        {{ list_mean('highest_differences') }} as difference_highest
    from grouped
),

bounds as (
    select
        group_key,
        task_count,
        unknown_count,
        difference_lowest,
        difference_highest,
        {{ mean_std_error(
            'lowest_differences', 'difference_lowest', 'lowest_min', 'lowest_max'
        ) }}
            as lowest_std_error,
        {{ mean_std_error(
            'highest_differences', 'difference_highest', 'highest_min', 'highest_max'
        ) }}
            as highest_std_error
    from centered
)

select * from bounds
