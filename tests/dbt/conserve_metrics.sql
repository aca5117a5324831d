-- The values of a metric are counted alike by rollout, by task and by agent.
with

by_rollout as (
    select
        run_id,
        metric,
        count(*) as value_count
    from {{ ref('rollout_metrics') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by
        run_id,
        metric
),

by_task as (
    select
        run_id,
        metric,
        sum(value_count) as value_count
    from {{ ref('task_metrics') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by
        run_id,
        metric
),

by_agent as (
    select
        run_id,
        metric,
        sum(value_count) as value_count
    from {{ ref('agent_metrics') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by
        run_id,
        metric
)

select
    by_rollout.run_id,
    by_rollout.metric
from by_rollout
full outer join by_task
    using (run_id, metric)
full outer join by_agent
    using (run_id, metric)
where (
    by_rollout.value_count = by_task.value_count
    and by_rollout.value_count = by_agent.value_count
) is not true
