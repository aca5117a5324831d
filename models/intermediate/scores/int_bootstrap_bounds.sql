with

groups as (
    select
        scores.slice_key,
        scores.score,
        scores.task_count,
        scores.task_values
    from {{ ref('int_slice_scores') }} as scores
    inner join {{ ref('int_slices') }} as slices using (slice_key)
    where slices.slice_by = 'all'
        and scores.task_count between 2 and 299
        and scores.std_error > 0
),

part_counts as (
    select cast(ceil(max(task_count) / 4) as bigint) as part_count
    from groups
),

all_resamples as (
    select
        part_count,
        {{ numbers_to('1000') }} as resample
    from part_counts
),

all_parts as (
    select
        resample,
        {{ numbers_to('part_count') }} as part
    from all_resamples
),

-- A draw depends on its numbers alone, so a run has the same interval everywhere. The
-- digest is of one string: a hash of several values would not be random enough.
digests as (
    select
        resample,
        part,
        md5(resample || ':' || part) as digest
    from all_parts
),

resamples as (
    select
        resample,
        flatten({{ values_in_order(uniform_draws('digest'), ['part']) }}) as draws
    from digests
    group by resample
),

means as (
    select
        groups.slice_key,
        groups.score,
        {{ resampled_mean('groups.task_values', 'resamples.draws') }} as mean_value
    from groups
    cross join resamples
),

bounds as (
    select
        slice_key,
        score,
        percentile_cont(0.025e0) within group (order by mean_value) as low,
        percentile_cont(0.975e0) within group (order by mean_value) as high
    from means
    group by
        slice_key,
        score
),

intervals as (
    select
        slice_key,
        score,
        {{ finite('low') }} as low,
        {{ finite('high') }} as high
    from bounds
)

select * from intervals
