{# One row per line of the rollouts. Lists are worked out in columns of their own: a lambda that looks into an expression
   would work it out again for every element. #}
{% macro duckdb__staged_rollouts() -%}
    {%- set perf = ['$.num_turns', '$.num_tool_calls', '$.total_latency_ms', '$.cached_prompt_tokens', '$.reasoning_tokens'] -%}
    {%- set details = ['$.input_tokens_details.cached_tokens', '$.output_tokens_details.reasoning_tokens'] -%}
    with

    read as (
        select
            file_path,
            fields,
            fields['response'] as response
        from {{ duckdb__read_rows('rollouts') }}
    ),

    parsed as (
        select
            *,
            {{ duckdb__response_parts('response') }} as parts
        from read
    ),

    lines as (
        select
            file_path,
            fields,
            parts,
            {{ duckdb__last_usage('response::varchar', 'parts.usage') }} as usage
        from parsed
    ),

    typed as (
        select
            runs.run_id,
            lines.parts,
            list_transform(lines.parts.output, lambda item: coalesce(item.type, 'message')) as item_types,
            lines.fields is not null as is_object,
            {{ duckdb__json_integer("lines.fields['_ng_task_index']") }} as task_index,
            {{ duckdb__json_integer("lines.fields['_ng_rollout_index']") }} as rollout_index,
            json_extract_string(lines.fields['agent_ref'], '$.name') as agent_name,
            json_extract_string(lines.fields['_ng_environment_server'], '$') as server_name,
            {{ is_masked("lines.fields['mask_sample']::varchar") }} as is_masked,
            json_extract_string(lines.fields['failure_kind'], '$') as failure_kind,
            json_extract_string(lines.fields['failure_reason'], '$') as failure_reason,
            case
                when map_contains(lines.fields, 'reward') then coalesce(lines.fields['reward']::varchar, 'null')
            end as reward_text,
            {{ duckdb__own_numbers('map_entries(lines.fields)') }} as own_fields,
            {{ duckdb__usage_numbers(duckdb__json_members('lines.usage')) }} as usage_fields,
            json_keys(lines.usage) as usage_keys,
            {{ duckdb__json_measures("lines.fields['ng_perf']", perf) }} as perf,
            {{ duckdb__json_measures('lines.usage', details) }} as details,
            {{ duckdb__json_measures("lines.fields['_spotter_latency_ms']", ['$']) }}[1] as timed_ms,
            coalesce(map_contains(lines.fields, runs.answer_field), false) as has_answer_field,
            {{ answer_text('lines.fields[runs.answer_field]::varchar') }} as answer,
            {{ duckdb__slice_values('lines.fields', 'runs.slice_by') }} as slice_values
        from lines
        inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.rollouts_file
    ),

    measured as (
        select
            *,
            list_transform(own_fields, lambda field: field.key) as own_keys,
            list_transform(usage_fields, lambda field: field.key) as usage_number_keys,
            -- a server that does not count tokens: not that there were none
            len(usage_fields) > 0
            and len(list_filter(usage_fields, lambda field: field.value::varchar not in ('0', '0.0'))) = 0 as is_usage_zero,
            {{ rollout_metrics('own_fields', 'usage_fields', 'usage_keys') }} as metrics
        from typed
    )

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
        {{ duckdb__unix_time('parts.created_at') }} as created_at,
        {{ duckdb__sampling('parts', "json_extract_string(parts.reasoning, '$.effort')") }} as sampling,
        -- a masked rollout measures nothing, whatever reward it was given
        case when not is_masked then {{ duckdb__metric('metrics', 'reward') }} end as reward,
        case when not is_usage_zero then {{ duckdb__metric('metrics', 'input_tokens') }} end as input_tokens,
        case when not is_usage_zero then {{ duckdb__metric('metrics', 'output_tokens') }} end as output_tokens,
        case when not is_usage_zero then {{ duckdb__metric('metrics', 'total_tokens') }} end as total_tokens,
        coalesce(perf[4], details[1]) as cached_tokens,
        coalesce(perf[5], details[2]) as reasoning_tokens,
        coalesce(perf[1], {{ turn_count('item_types') }}) as turn_count,
        coalesce(perf[2], len(list_filter(item_types, lambda type: ends_with(type, '_call')))) as tool_call_count,
        coalesce(perf[3], timed_ms) as latency_ms,
        metrics,
        {{ rollout_info(
            'task_index', 'rollout_index', 'reward_text', 'own_fields', 'own_keys', 'usage_fields', 'usage_number_keys'
        ) }} as info,
        len(usage_fields) > 0 and not is_usage_zero as has_usage,
        has_answer_field,
        answer,
        slice_values,
        {{ is_output_empty('parts.output') }} as is_output_empty,
        {{ open_call_count('item_types') }} as open_call_count,
        coalesce(ends_with(item_types[-1], '_output'), false) as is_result_last,
        coalesce(item_types[-1] = 'message', false)
        and {{ is_output_empty('parts.output[-1:]') }}
        and len(list_filter(item_types, lambda type: ends_with(type, '_call'))) > 0 as is_final_answer_empty,
        coalesce(parts.status = 'incomplete', false)
        or coalesce(parts.output[-1].status = 'incomplete', false)
        or json_extract_string(parts.incomplete_details, '$.reason') is not null as is_truncated,
        {{ response_hash('item_types', 'hash(parts.output)') }} as response_hash,
        -- not an object, or a name twice in the usage: only Python reads that as it is meant
        is_object
        and coalesce(list_unique(usage_keys) = len(usage_keys), true)
        and task_index is not null
        and rollout_index is not null as is_readable
    from measured
{%- endmacro %}
