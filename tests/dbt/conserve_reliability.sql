-- What agents, failure classes and rollouts are counted as adds up to the run.
with

agents as (
    select
        run_id,
        sum(expected_rollout_count) as expected_count,
        sum(completed_rollout_count) as completed_count,
        sum(masked_rollout_count) as masked_count,
        sum(failed_attempt_count) as failed_count,
        sum(
            clean_rollout_count + recovered_rollout_count
            + masked_rollout_count + lost_rollout_count + unattempted_rollout_count
        ) as sorted_count
    from {{ ref('agent_reliability') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by run_id
),

classes as (
    select
        run_id,
        sum(attempt_count) as failed_count
    from {{ ref('failure_classes') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by run_id
),

rollouts as (
    select
        run_id,
        count(*) as measured_count
    from {{ ref('rollout_health') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by run_id
),

kinds as (
    select
        run_id,
        sum(rollout_count) as masked_count
    from {{ ref('mask_kinds') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by run_id
)

select runs.run_id
from {{ ref('runs') }} as runs
left join agents using (run_id)
left join classes using (run_id)
left join rollouts using (run_id)
left join kinds using (run_id)
where runs.run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    and (
        runs.expected_rollout_count = coalesce(agents.expected_count, 0)
        and runs.expected_rollout_count = coalesce(agents.sorted_count, 0)
        and runs.completed_rollout_count = coalesce(agents.completed_count, 0)
        and runs.failed_attempt_count = coalesce(agents.failed_count, 0)
        and runs.failed_attempt_count = coalesce(classes.failed_count, 0)
        and runs.masked_rollout_count = coalesce(agents.masked_count, 0)
        and runs.measured_rollout_count = coalesce(rollouts.measured_count, 0)
        and runs.masked_rollout_count = coalesce(kinds.masked_count, 0)
    ) is not true
