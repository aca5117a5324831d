{%- set perf_paths = [
    '$.num_turns', '$.num_tool_calls', '$.total_latency_ms', '$.cached_prompt_tokens',
    '$.reasoning_tokens'
] -%}
{%- set usage_paths = [
    '$.input_tokens_details.cached_tokens', '$.output_tokens_details.reasoning_tokens'
] -%}
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
        parts,
        {{ item_types('parts') }} as types,
        fields is not null as is_object,
        {{ json_integer(map_field('fields', '_ng_task_index')) }} as task_index,
        {{ json_integer(map_field('fields', '_ng_rollout_index')) }} as rollout_index,
        {{ json_text_field(map_field('fields', 'agent_ref'), 'name') }} as agent_name,
        {{ json_text(map_field('fields', '_ng_environment_server')) }} as server_name,
        {{ is_masked(map_field('fields', 'mask_sample')) }} as is_masked,
        {{ json_text(map_field('fields', 'failure_kind')) }} as failure_kind,
        {{ json_text(map_field('fields', 'failure_reason')) }} as failure_reason,
        case
            when {{ has_field('fields', 'reward') }}
                then coalesce({{ map_field('fields', 'reward') }}, 'null')
        end as reward_literal,
        {{ numeric_entries(map_entries('fields'), is_own=true) }} as own_fields,
        {{ numeric_entries(json_entries('usage')) }} as usage_fields,
        {{ json_names('usage') }} as usage_keys,
        {{ json_measures(map_field('fields', 'ng_perf'), perf_paths) }} as perf,
        {{ json_measures('usage', usage_paths) }} as details,
        {{ has_answer_field('fields') }} as has_answer_field,
        {{ answer_text('fields') }} as answer,
        {{ slice_values('fields') }} as slice_values
    from usages
),

keyed as (
    select
        runs.run_id,
        rollouts.*,
        {{ entry_keys('own_fields') }} as own_keys,
        {{ entry_keys('usage_fields') }} as number_keys,
        {{ metric_entries('own_fields', 'usage_fields', 'usage_keys') }} as metrics
    from rollouts
    inner join runs on rollouts.file_path = runs.rollouts_file
),

typed as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        server_name,
        not is_masked as is_measured,
        substr(nullif(failure_kind, ''), 1, 100) as failure_kind,
        substr(nullif(failure_reason, ''), 1, 500) as failure_reason,
        parts.model as model_name,
        -- the reward of a masked rollout does not count
        case when not is_masked then {{ metric_value('metrics', 'reward') }} end
            as reward,
        {{ metric_value('metrics', 'input_tokens') }} as input_tokens,
        {{ metric_value('metrics', 'output_tokens') }} as output_tokens,
        {{ metric_value('metrics', 'total_tokens') }} as total_tokens,
        -- perf and details are in the order of their paths, above
        coalesce(perf[4], details[1]) as cached_tokens,
        coalesce(perf[5], details[2]) as reasoning_tokens,
        coalesce(perf[1], {{ counted_turns('types') }}) as turn_count,
        coalesce(perf[2], {{ counted_tool_calls('types') }}) as tool_call_count,
        perf[3] as latency_ms,
        metrics,
        {{ rollout_info(
            'task_index', 'rollout_index', 'reward_literal', 'own_fields', 'own_keys',
            'usage_fields', 'number_keys'
        ) }} as info,
        {{ list_length('usage_fields') }} > 0 as has_usage,
        has_answer_field,
        answer,
        slice_values,
        {{ is_output_empty('parts') }} as is_output_empty,
        {{ is_truncated('parts') }} as is_truncated,
        {{ response_hash('parts', 'types') }} as response_hash,
        -- not an object, or a duplicate field name: Python reads these files again
        is_object
        and not {{ has_repetition('usage_keys') }}
        and task_index is not null
        and rollout_index is not null as is_readable
    from keyed
)

select * from typed
