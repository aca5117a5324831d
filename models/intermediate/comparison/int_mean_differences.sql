{%- set order = ['task_id', 'occurrence'] -%}
with

-- Sums of doubles depend on their order: the tasks are in the order of their contents.
-- A task with one rollout takes the mean variance of the others; without any repeated
-- task on a side its noise is unknown.
means as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        count(*) as task_count,
        max(value_range) as value_range,
        cast(sum(baseline_rollout_count) as bigint) as baseline_rollout_count,
        cast(sum(rollout_count) as bigint) as rollout_count,
        {{ mean_in_order('difference', order) }} as difference,
        {{ mean_in_order('baseline_value', order) }} as baseline_value,
        {{ mean_in_order('value', order) }} as value,
        {{ error_in_order('difference', order) }} as std_error,
        {{ error_in_order('baseline_value', order) }} as baseline_std_error,
        {{ error_in_order('value', order) }} as candidate_std_error,
        {{ mean_in_order('baseline_variance', order) }}
        + {{ mean_in_order('variance', order) }} as rollout_variance,
        {{ sum_in_order('baseline_variance / baseline_rollout_count', order) }}
        + count(case when baseline_variance is null then 1 end)
        * {{ mean_in_order('baseline_variance', order) }} as baseline_noise_sum,
        {{ sum_in_order('variance / rollout_count', order) }}
        + count(case when variance is null then 1 end)
        * {{ mean_in_order('variance', order) }} as noise_sum,
        -- one rollout of 0 or 1 per task and run: which tasks passed in one run only
        bool_and(is_binary) as is_all_binary,
        count(case when difference < 0 then 1 end) as lost_count,
        count(case when difference > 0 then 1 end) as gained_count,
        count(case when baseline_value + value = 2 then 1 end) as kept_count
    from {{ ref('int_sliced_differences') }}
    where difference is not null
    group by
        pair_key,
        score,
        slice_by,
        slice_value
),

-- what the difference could be if every missing, masked or unscored rollout had gone
-- for one run and against the other
bounds as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        count(*) as bounded_task_count,
        cast(sum(unknown_count) as bigint) as unknown_count,
        {{ mean_in_order('difference_lowest', order) }} as difference_lowest,
        {{ mean_in_order('difference_highest', order) }} as difference_highest,
        {{ error_in_order('difference_lowest', order) }} as lowest_std_error,
        {{ error_in_order('difference_highest', order) }} as highest_std_error
    from {{ ref('int_sliced_differences') }}
    group by
        pair_key,
        score,
        slice_by,
        slice_value
    having sum(unknown_count) > 0
),

differences as (
    select
        means.*,
        {{ finite(
            'sqrt(means.baseline_noise_sum + means.noise_sum) / means.task_count'
        ) }} as fixed_std_error,
        {{ finite('sqrt(2 * means.baseline_noise_sum) / means.task_count') }}
            as noise_floor,
        (means.baseline_noise_sum + means.noise_sum) / means.task_count
            as within_variance,
        bounds.bounded_task_count,
        bounds.unknown_count,
        bounds.difference_lowest,
        bounds.difference_highest,
        bounds.lowest_std_error,
        bounds.highest_std_error
    from means
    left join bounds using (pair_key, score, slice_by, slice_value)
)

select * from differences
