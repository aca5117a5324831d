with

runs as (
    select * from {{ ref('stg_runs') }}
),

lines as (
    select
        file_path,
        fields,
        {{ map_field('fields', 'response') }} as response,
        {{ response_parts(map_field('fields', 'response')) }} as parts
    from {{ read_rows('rollouts') }}
),

usages as (
    select
        file_path,
        fields,
        parts,
        {{ last_usage('response', 'parts') }} as usage
    from lines
),

rollouts as (
    select
        file_path,
        {{ json_integer(map_field('fields', '_ng_task_index')) }} as task_index,
        {{ json_integer(map_field('fields', '_ng_rollout_index')) }} as rollout_index,
        {{ map_field('fields', 'agent_ref') }} as agent_ref,
        {{ has_field('fields', 'reward') }} as has_reward,
        {{ map_field('fields', 'reward') }} as reward_literal,
        {{ numeric_entries(map_entries('fields')) }} as own_fields,
        {{ numeric_entries(json_entries('usage')) }} as usage_fields,
        {{ has_answer_field('fields') }} as has_answer_field,
        {{ answer_text('fields') }} as answer,
        {{ slice_values('fields') }} as slice_values,
        {{ is_output_empty('parts') }} as is_output_empty,
        {{ is_truncated('parts') }} as is_truncated,
        {{ response_hash('parts') }} as response_hash,
        -- no object, or a field name twice: only Python reads that as it is meant
        fields is not null and not {{ has_repeated_key('usage') }} as is_readable
    from usages
),

keyed as (
    select
        runs.run_id,
        rollouts.task_index,
        rollouts.rollout_index,
        rollouts.agent_ref,
        rollouts.has_reward,
        rollouts.reward_literal,
        rollouts.own_fields,
        rollouts.usage_fields,
        rollouts.has_answer_field,
        rollouts.answer,
        rollouts.slice_values,
        rollouts.is_output_empty,
        rollouts.is_truncated,
        rollouts.response_hash,
        rollouts.is_readable
        and rollouts.task_index is not null
        and rollouts.rollout_index is not null as is_readable
    from rollouts
    inner join runs on rollouts.file_path = runs.rollouts_file
)

select * from keyed
