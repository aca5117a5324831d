-- Every mart depends on this model, and this model depends on every audit.
-- depends_on: {{ ref('audit_lines_unreadable') }}
-- depends_on: {{ ref('audit_inputs_duplicated') }}
-- depends_on: {{ ref('audit_rollouts_duplicated') }}
-- depends_on: {{ ref('audit_rollouts_unexpected') }}
-- depends_on: {{ ref('audit_rollouts_missing') }}
-- depends_on: {{ ref('audit_agents_unnamed') }}
with

inputs as (
    select * from {{ ref('stg_inputs') }}
),

rollouts as (
    select * from {{ ref('stg_rollouts') }}
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
        rollouts.reward is not null as is_scored
    from inputs
    left join rollouts
        on inputs.run_id = rollouts.run_id
        and inputs.task_index = rollouts.task_index
        and inputs.rollout_index = rollouts.rollout_index
)

select * from keyed
