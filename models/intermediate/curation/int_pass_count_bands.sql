-- tasks with the same counts of passes and rollouts share a row, computed once
with

records as (
    select distinct
        rollout_count,
        pass_count
    from {{ ref('int_task_outcomes') }}
    union all
    select
        0 as rollout_count,
        0 as pass_count
),

rated as (
    select
        rollout_count,
        pass_count,
        pass_count / nullif(rollout_count, 0) as pass_ratio,
        coalesce({{ wilson_bound('pass_count', 'rollout_count', '-') }}, 0e0)
            as pass_low,
        coalesce({{ wilson_bound('pass_count', 'rollout_count', '+') }}, 1e0)
            as pass_high
    from records
),

banded as (
    select
        rated.rollout_count,
        rated.pass_count,
        coalesce(min_by(bounds.band, bounds.precedence), 'undecided') as band
    from rated
    left join {{ ref('band_bounds') }} as bounds
        on rated.pass_low >= bounds.low_at_least
        and rated.pass_high <= bounds.high_at_most
    group by
        rated.rollout_count,
        rated.pass_count
),

pass_counts as (
    select
        rollout_count,
        pass_count,
        rated.pass_ratio,
        rated.pass_low,
        rated.pass_high,
        banded.band,
        {{ informative_ratio('rollout_count', 'pass_count', 4) }}
            as informative_ratio_4,
        {{ informative_ratio('rollout_count', 'pass_count', 8) }}
            as informative_ratio_8,
        {{ informative_ratio('rollout_count', 'pass_count', 16) }}
            as informative_ratio_16,
        {{ informative_ratio('rollout_count', 'pass_count', 32) }}
            as informative_ratio_32
    from rated
    inner join banded using (rollout_count, pass_count)
)

select * from pass_counts
