{%- set order = ['task_key'] -%}
with

summed as (
    select
        group_key,
        count(*) as task_count,
        {{ mean_in_order('baseline_variance', order) }} as baseline_variance_mean,
        {{ mean_in_order('variance', order) }} as variance_mean,
        {{ sum_in_order('baseline_variance / baseline_rollout_count', order) }}
            as baseline_known_sum,
        {{ sum_in_order('variance / rollout_count', order) }} as known_sum,
        cast(count(case when baseline_variance is null then 1 end) as double)
            as baseline_single_count,
        cast(count(case when variance is null then 1 end) as double) as single_count
    from {{ ref('int_grouped_differences') }}
    where difference is not null
    group by group_key
),

-- a task with one rollout takes the mean variance of the others; without any repeated
-- task on a side its noise is unknown
filled as (
    select
        group_key,
        task_count,
        baseline_variance_mean + variance_mean as rollout_variance,
        baseline_known_sum + case
            when baseline_single_count > 0
                then baseline_single_count * baseline_variance_mean
            else 0e0
        end as baseline_noise_sum,
        known_sum + case
            when single_count > 0 then single_count * variance_mean else 0e0
        end as noise_sum
    from summed
),

noises as (
    select
        group_key,
        {{ finite('sqrt(baseline_noise_sum + noise_sum) / task_count') }}
            as fixed_std_error,
        {{ finite('sqrt(2 * baseline_noise_sum) / task_count') }} as noise_floor,
        (baseline_noise_sum + noise_sum) / task_count as within_variance,
        rollout_variance
    from filled
)

select * from noises
