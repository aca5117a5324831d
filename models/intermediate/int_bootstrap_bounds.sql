with

groups as (
    select
        scores.slice_key,
        scores.score,
        count(*) as task_count,
        {{ list_in_order('scores.value', ['scores.task_key']) }} as task_values
    from {{ ref('int_task_scores') }} as scores
    inner join {{ ref('int_slices') }} as slices
        on scores.slice_key = slices.slice_key
        and slices.slice_by = 'all'
    group by
        scores.slice_key,
        scores.score
    having
        count(*) between 2 and 299
        and {{ differ('min(scores.value)', 'max(scores.value)') }}
),

-- A draw depends only on its numbers, so a run has the same interval on every machine.
-- MD5 of one string: DuckDB's hash of several values would not be random enough.
digests as (
    select
        resample,
        part,
        md5(resample || ':' || part) as digest
    from (
        select
            resample,
            {{ numbers_to('part_count') }} as part
        from (
            select
                cast(ceil(max(task_count) / 4) as bigint) as part_count,
                {{ numbers_to('1000') }} as resample
            from groups
        ) as all_resamples
    ) as all_parts
),

resamples as (
    select
        resample,
        {{ list_flatten(list_in_order(uniform_draws('digest'), ['part'])) }} as draws
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
        {{ finite(quantile('mean_value', 0.025)) }} as low,
        {{ finite(quantile('mean_value', 0.975)) }} as high
    from means
    group by
        slice_key,
        score
)

select * from bounds
