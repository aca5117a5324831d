with

lines as (
    {{ staged_verdicts() }}
),

-- a rollout of several stages has a verdict for each: the worst counts
verdicts as (
    select
        run_id,
        task_index,
        rollout_index,
        max_by(
            verdict,
            case verdict when 'unhealthy' then 2 when 'unobserved' then 1 else 0 end
        ) as verdict,
        {{ text_in_order('checks', ['checks']) }} as checks
    from lines
    where task_index is not null and rollout_index is not null
    group by
        run_id,
        task_index,
        rollout_index
)

select * from verdicts
