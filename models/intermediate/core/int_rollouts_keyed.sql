-- The gate: every mart reads this model, and it fails if an audit has found anything.
with

inputs as (
    select * from {{ ref('stg_inputs') }}
),

rollouts as (
    select * from {{ ref('stg_rollouts') }}
),

violations as (
    select 'audit_lines_unreadable' as audit from {{ ref('audit_lines_unreadable') }}
    union all
    select 'audit_inputs_duplicated' as audit from {{ ref('audit_inputs_duplicated') }}
    union all
    select 'audit_rollouts_duplicated' as audit
    from {{ ref('audit_rollouts_duplicated') }}
    union all
    select 'audit_rollouts_unexpected' as audit
    from {{ ref('audit_rollouts_unexpected') }}
    union all
    select 'audit_rollouts_missing' as audit from {{ ref('audit_rollouts_missing') }}
    union all
    select 'audit_agents_unnamed' as audit from {{ ref('audit_agents_unnamed') }}
),

-- one row, or an error that names the audit
gate as (
    select
        case
            when count(*) > 0
                then {{ fail(
                    "'The runs break an invariant: ' || min(audit) || ' has rows'"
                ) }}
        end as verdict
    from violations
),

keyed as (
    select
        inputs.run_id,
        inputs.task_index,
        inputs.rollout_index,
        inputs.agent_name as input_agent_name,
        coalesce(inputs.server_name, inputs.agent_name, rollouts.agent_name) as runner,
        rollouts.run_id is not null as is_completed,
        coalesce(rollouts.is_measured, false) as is_measured,
        coalesce(not rollouts.is_measured, false) as is_masked,
        rollouts.reward is not null as is_scored
    from inputs
    left join rollouts using (run_id, task_index, rollout_index)
    inner join gate on gate.verdict is null
)

select * from keyed
