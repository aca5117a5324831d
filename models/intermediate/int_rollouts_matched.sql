-- The gate: every mart reads this model, and it waits for every audit.
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

matched as (
    select
        rollouts.run_id,
        rollouts.task_index,
        rollouts.rollout_index,
        coalesce(
            inputs.agent_name, {{ json_text_field('rollouts.agent_ref', 'name') }}
        ) as agent_name,
        {{ field_number('reward') }} as reward,
        {{ field_number('input_tokens') }} as input_tokens,
        {{ field_number('output_tokens') }} as output_tokens,
        {{ field_number('total_tokens') }} as total_tokens,
        rollouts.has_reward,
        rollouts.reward_literal,
        rollouts.own_fields,
        rollouts.usage_fields,
        rollouts.has_answer_field,
        rollouts.answer,
        rollouts.slice_values,
        rollouts.is_output_empty,
        rollouts.is_truncated,
        rollouts.response_hash
    from rollouts
    inner join inputs
        on rollouts.run_id = inputs.run_id
        and rollouts.task_index = inputs.task_index
        and rollouts.rollout_index = inputs.rollout_index
)

select * from matched
