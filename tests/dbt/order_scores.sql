-- A score lies in its interval, a share in 0 to 1, and no worst is above its best.
with

scores as (
    select
        run_id,
        agent_name,
        score as figure,
        coalesce(low <= value and value <= high, true)
        and (
            score not in ('pass_rate', 'pass_at_k', 'pass_hat_k')
            or value between 0 and 1
        ) as is_in_order
    from {{ ref('agent_scores') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    union all
    select
        run_id,
        agent_name,
        'k = ' || k as figure,
        pass_hat_k <= pass_at_k + 1e-9
        and coalesce(min_at_k <= max_at_k + 1e-9 * (1 + abs(max_at_k)), true)
        and task_count between 1 and all_task_count as is_in_order
    from {{ ref('pass_at_k') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
)

select *
from scores
where is_in_order is not true
