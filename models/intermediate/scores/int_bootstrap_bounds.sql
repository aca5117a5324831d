with

groups as (
    select scores.*
    from {{ ref('int_slice_scores') }} as scores
    inner join {{ ref('int_slices') }} as slices using (slice_key)
    where slices.slice_by = 'all'
        and scores.task_count between 2 and 299
        and scores.std_error > 0
),

numbers as (
    select {{ numbers_to('1000') }} as resample
),

parts as (
    select {{ numbers_to('part_count') }} as part
    from (
        select cast(ceil(max(task_count) / 4) as bigint) as part_count from groups
    ) as largest
),

-- A draw depends on its numbers alone, so a run has the same interval everywhere. The
-- digest is of one string: a hash of several values would not be random enough.
digests as (
    select
        numbers.resample,
        parts.part,
        md5(numbers.resample || ':' || parts.part) as digest
    from numbers
    cross join parts
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
        {{ finite('percentile_cont(0.025e0) within group (order by mean_value)') }}
            as low,
        {{ finite('percentile_cont(0.975e0) within group (order by mean_value)') }}
            as high
    from means
    group by
        slice_key,
        score
)

select * from bounds
