with

groups as (
    select
        run_id,
        agent_name,
        score,
        count(*) as task_count,
        {{ list_in_order('value', ['task_index']) }} as task_values
    from {{ ref('int_task_scores') }}
    where slice_by = 'all'
    group by
        run_id,
        agent_name,
        score
    having
        count(*) between 2 and 299
        and {{ differ('min(value)', 'max(value)') }}
),

-- A draw depends on its numbers alone, so a run has the same interval everywhere. The
-- digest is of one string: a hash of several values would not be random enough.
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
        groups.run_id,
        groups.agent_name,
        groups.score,
        {{ resampled_mean('groups.task_values', 'resamples.draws') }} as mean_value
    from groups
    cross join resamples
),

bounds as (
    select
        run_id,
        agent_name,
        score,
        {{ finite(quantile('mean_value', 0.025)) }} as low,
        {{ finite(quantile('mean_value', 0.975)) }} as high
    from means
    group by
        run_id,
        agent_name,
        score
)

select * from bounds
