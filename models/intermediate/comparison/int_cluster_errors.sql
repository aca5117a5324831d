with

differences as (
    select
        tasks.pair_key,
        tasks.score,
        tasks.slice_by,
        tasks.slice_value,
        tasks.cluster,
        tasks.task_id,
        tasks.occurrence,
        tasks.difference,
        tasks.difference - means.difference as deviation,
        means.task_count
    from {{ ref('int_sliced_differences') }} as tasks
    inner join {{ ref('int_mean_differences') }} as means
        using (pair_key, score, slice_by, slice_value)
    where tasks.cluster is not null and tasks.difference is not null
),

-- tasks that share a source are not independent: their deviations are added up first
sums as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        cluster,
        task_count,
        {{ sum_in_order('deviation', ['task_id', 'occurrence']) }} as deviation_sum,
        {{ sum_in_order('abs(difference)', ['task_id', 'occurrence']) }} as absolute_sum
    from differences
    group by
        pair_key,
        score,
        slice_by,
        slice_value,
        cluster,
        task_count
),

squares as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        task_count,
        count(*) as cluster_count,
        max(abs(deviation_sum)) > 1e-12 * max(absolute_sum) as is_spread,
        {{ sum_in_order('deviation_sum * deviation_sum', ['cluster']) }} as square_sum
    from sums
    group by
        pair_key,
        score,
        slice_by,
        slice_value,
        task_count
),

-- sums that differ by rounding only have no spread
errors as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        cluster_count,
        case
            when cluster_count < 2 then null
            when is_spread then {{ finite(
                'sqrt(square_sum * cluster_count / (cluster_count - 1)) / task_count'
            ) }}
            else 0e0
        end as cluster_std_error
    from squares
)

select * from errors
