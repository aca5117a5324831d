with

collected as (
    select
        run_id,
        task_index,
        rollout_index,
        count(*) as line_count,
        -- a rollout of several stages has a verdict for each: the worst counts
        max_by(
            verdict,
            case verdict when 'unhealthy' then 2 when 'unobserved' then 1 else 0 end
        ) as verdict,
        {{ values_in_order('checks', ['checks']) }} as checks
    from {{ ref('base_verdicts') }}
    group by
        run_id,
        task_index,
        rollout_index
),

verdicts as (
    select
        run_id,
        task_index,
        rollout_index,
        line_count,
        verdict,
        nullif(
            {{ list_join('array_sort(array_distinct(flatten(checks)))', "', '") }}, ''
        ) as checks,
        task_index is not null and rollout_index is not null as is_readable
    from collected
)

select * from verdicts
