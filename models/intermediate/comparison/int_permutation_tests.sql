with

-- one number in place of four columns: the joins of all flips take a third of the time
tasks as (
    select
        tasks.*,
        tests.task_count,
        dense_rank() over (order by pair_key, score, slice_by, slice_value)
            as test_number,
        row_number() over (
            partition by pair_key, score, slice_by, slice_value
            order by tasks.task_id, tasks.occurrence
        ) - 1 as place
    from {{ ref('int_sliced_differences') }} as tasks
    inner join {{ ref('int_difference_intervals') }} as tests
        using (pair_key, score, slice_by, slice_value)
    where tasks.difference is not null and tests.is_permuted
),

-- the sums of the signs that were seen; a hair of room for rounding
seen as (
    select
        test_number,
        task_count,
        abs(sum(difference)) - 1e-12 * sum(abs(difference)) as distance
    from tasks
    group by
        test_number,
        task_count
),

patterns as (
    select
        *,
        cast(floor(place / 8) as bigint) as block,
        cast(power(2, place % 8) as bigint) as digit,
        {{ numbers_to(255, first=0) }} as pattern
    from tasks
),

-- the sum of a block of tasks for each pattern of signs
block_sums as (
    select
        test_number,
        block,
        pattern,
        sum(case when (pattern & digit) > 0 then -difference else difference end)
            as signed_sum
    from patterns
    group by
        test_number,
        block,
        pattern
),

flipped as (
    select
        seen.*,
        abs(
            block_0.signed_sum + coalesce(block_1.signed_sum, 0)
            + coalesce(block_2.signed_sum, 0) + coalesce(block_3.signed_sum, 0)
        ) >= seen.distance as is_as_far
    from seen
    inner join {{ ref('int_sign_flips') }} as flips using (task_count)
    {% for block in range(4) %}
        left join block_sums as block_{{ block }}
            on seen.test_number = block_{{ block }}.test_number
            and block_{{ block }}.block = {{ block }}
            and flips.pattern_{{ block }} = block_{{ block }}.pattern
    {% endfor %}
),

-- what was seen is one of all ways; of random draws it is one more
chances as (
    select
        test_number,
        case
            when task_count > 14
                then (1e0 + count(case when is_as_far then 1 end)) / (1e0 + count(*))
            else 1e0 * count(case when is_as_far then 1 end) / count(*)
        end as p_value
    from flipped
    group by
        test_number,
        task_count
),

p_values as (
    select
        tasks.pair_key,
        tasks.score,
        tasks.slice_by,
        tasks.slice_value,
        chances.p_value
    from chances
    inner join tasks using (test_number)
    where tasks.place = 0
)

select * from p_values
