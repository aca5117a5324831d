{# One row per line of the rollouts. #}
{% macro spark__staged_rollouts() -%}
    with

    lines as (
        select
            *,
            variants['response'] as response,
            {{ spark__last_usage("fields['response']") }} as usage,
            try_variant_get(variants['response'], '$.usage', 'map<string, variant>') as usage_variants
        from {{ spark__read_rows('rollouts') }}
    ),

    parsed as (
        select
            *,
            {{ spark__response_parts('response') }} as parts,
            from_json(usage, 'map<string, string>', {{ spark__json_options() }}) as usage_texts
        from lines
    ),

    typed as (
        select
            runs.run_id,
            lines.parts,
            transform(lines.parts.output, item -> coalesce(item.type, 'message')) as item_types,
            lines.fields is not null as is_object,
            {{ spark__json_integer("lines.fields['_ng_task_index']") }} as task_index,
            {{ spark__json_integer("lines.fields['_ng_rollout_index']") }} as rollout_index,
            get_json_object(lines.fields['agent_ref'], '$.name') as agent_name,
            lines.texts['_ng_environment_server'] as server_name,
            {{ is_masked("lines.fields['mask_sample']") }} as is_masked,
            lines.texts['failure_kind'] as failure_kind,
            lines.texts['failure_reason'] as failure_reason,
            case
                when array_contains(map_keys(lines.fields), 'reward') then coalesce(lines.fields['reward'], 'null')
            end as reward_text,
            {{ spark__own_numbers('map_entries(lines.fields)') }} as own_fields,
            {{ spark__usage_numbers(spark__typed_entries(
                'lines.usage_texts',
                'transform_values(lines.usage_texts, (name, text) -> lines.usage_variants[name])'
            )) }} as usage_fields,
            map_keys(lines.usage_texts) as usage_keys,
            {%- for name in ['num_turns', 'num_tool_calls', 'total_latency_ms', 'cached_prompt_tokens', 'reasoning_tokens'] %}
            {{ spark__json_measure("lines.variants['ng_perf']", '$.' ~ name) }} as perf_{{ name }},
            {%- endfor %}
            {{ spark__json_measure("lines.variants['_spotter_latency_ms']", '$') }} as timed_ms,
            {{ spark__json_measure('lines.response', '$.usage.input_tokens_details.cached_tokens') }} as cached_tokens,
            {{ spark__json_measure('lines.response', '$.usage.output_tokens_details.reasoning_tokens') }} as reasoning_tokens,
            coalesce(array_contains(map_keys(lines.fields), runs.answer_field), false) as has_answer_field,
            {{ answer_text('lines.fields[runs.answer_field]') }} as answer,
            {{ spark__slice_values('lines.fields', 'lines.texts', 'runs.slice_by') }} as slice_values
        from parsed as lines
        inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.rollouts_file
    ),

    keyed as (
        select
            *,
            transform(own_fields, field -> field.key) as own_keys,
            transform(usage_fields, field -> field.key) as usage_number_keys,
            cast(array_size(filter(item_types, type -> type like '%\\_call')) as double) as call_count,
            -- a server that does not count tokens: not that there were none
            array_size(usage_fields) > 0
            and array_size(filter(usage_fields, field -> field.value not in ('0', '0.0'))) = 0 as is_usage_zero
        from typed
    ),

    measured as (
        select
            *,
            {{ rollout_metrics('own_fields', 'usage_fields', 'usage_keys') }} as metrics
        from keyed
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
        {{ spark__unix_time('parts.created_at') }} as created_at,
        {{ spark__sampling('parts', 'parts.effort') }} as sampling,
        -- a masked rollout measures nothing, whatever reward it was given
        case when not is_masked then {{ spark__metric('metrics', 'reward') }} end as reward,
        case when not is_usage_zero then {{ spark__metric('metrics', 'input_tokens') }} end as input_tokens,
        case when not is_usage_zero then {{ spark__metric('metrics', 'output_tokens') }} end as output_tokens,
        case when not is_usage_zero then {{ spark__metric('metrics', 'total_tokens') }} end as total_tokens,
        coalesce(perf_cached_prompt_tokens, cached_tokens) as cached_tokens,
        coalesce(perf_reasoning_tokens, reasoning_tokens) as reasoning_tokens,
        coalesce(perf_num_turns, {{ turn_count('item_types') }}) as turn_count,
        coalesce(perf_num_tool_calls, call_count) as tool_call_count,
        coalesce(perf_total_latency_ms, timed_ms) as latency_ms,
        metrics,
        {{ rollout_info(
            'task_index', 'rollout_index', 'reward_text', 'own_fields', 'own_keys', 'usage_fields', 'usage_number_keys'
        ) }} as info,
        array_size(usage_fields) > 0 and not is_usage_zero as has_usage,
        has_answer_field,
        answer,
        slice_values,
        {{ is_output_empty('parts.output') }} as is_output_empty,
        {{ open_call_count('item_types') }} as open_call_count,
        coalesce(element_at(item_types, -1) like '%\\_output', false) as is_result_last,
        coalesce(element_at(item_types, -1) = 'message', false)
        and {{ is_output_empty('slice(parts.output, -1, 1)') }}
        and call_count > 0 as is_final_answer_empty,
        coalesce(parts.status = 'incomplete', false)
        or coalesce(element_at(parts.output, -1).status = 'incomplete', false)
        or parts.incomplete_reason is not null as is_truncated,
        {{ response_hash('item_types', "md5(to_json(parts.output, map('ignoreNullFields', 'false')))") }} as response_hash,
        -- not an object, or a name twice in the usage: only Python reads that as it is meant
        is_object
        and coalesce(array_size(array_distinct(usage_keys)) = array_size(usage_keys), true)
        and task_index is not null
        and rollout_index is not null as is_readable
    from measured
{%- endmacro %}
