{%- set texts = [
    'name', 'arguments', 'input', 'action', 'code', 'queries', 'summary'
] -%}
with

-- A repeated usage: the last counts, as Python reads it. The text is minified and a quote
-- inside a string is escaped, so `"usage":` can only be a key.
lines as (
    select
        *,
        variants['response'] as response,
        case
            when fields['response'] like '%"usage":%"usage":%'
                then element_at(filter(
                    map_entries(from_json(
                        fields['response'], 'map<string, string>', {{ spark__json_options() }}
                    )),
                    member -> member.key = 'usage'
                ), -1).value
            else get_json_object(fields['response'], '$.usage')
        end as usage,
        try_variant_get(variants['response'], '$.usage', 'map<string, variant>')
            as usage_variants
    from {{ spark__read_rows('rollouts') }}
),

-- what a response says of itself
responses as (
    select
        *,
        from_json(usage, 'map<string, string>', {{ spark__json_options() }}) as usage_texts,
        named_struct(
            'temperature', try_variant_get(response, '$.temperature', 'double'),
            'top_p', try_variant_get(response, '$.top_p', 'double'),
            'max_output_tokens', try_variant_get(response, '$.max_output_tokens', 'bigint'),
            'effort', try_variant_get(response, '$.reasoning.effort', 'string')
        ) as params,
        try_variant_get(response, '$.created_at', 'double') as created_second,
        transform(
            try_variant_get(response, '$.output', 'array<variant>'),
            item -> case
                when schema_of_variant(item) like 'OBJECT%' then named_struct(
                    'type', try_variant_get(item, '$.type', 'string'),
                    'status', try_variant_get(item, '$.status', 'string'),
                    'content', to_json(try_variant_get(item, '$.content', 'variant'))
                    {%- for text in texts %},
                    '{{ text }}', try_variant_get(item, '$.{{ text }}', 'string')
                    {%- endfor %}
                )
            end
        ) as output
    from lines
),

-- the first character tells numbers and booleans from strings, lists and objects
typed as (
    select
        runs.run_id,
        lines.fields is not null as is_object,
        {{ spark__json_integer("lines.fields['_ng_task_index']") }} as task_index,
        {{ spark__json_integer("lines.fields['_ng_rollout_index']") }} as rollout_index,
        get_json_object(lines.fields['agent_ref'], '$.name') as agent_name,
        lines.texts['_ng_environment_server'] as server_name,
        lines.fields['mask_sample'] as mask,
        lines.texts['failure_kind'] as failure_kind,
        lines.texts['failure_reason'] as failure_reason,
        case
            when array_contains(map_keys(lines.fields), 'reward')
                then coalesce(lines.fields['reward'], 'null')
        end as reward_text,
        coalesce(filter(
            map_entries(lines.fields), field -> ascii(field.value) not in (34, 91, 123)
        ), array()) as own_fields,
        coalesce(filter(
            {{ spark__typed_entries(
                'lines.usage_texts',
                'transform_values(
                    lines.usage_texts, (name, text) -> lines.usage_variants[name]
                )'
            ) }},
            field -> ascii(field.value) not in (34, 91, 123)
        ), array()) as usage_fields,
        map_keys(lines.usage_texts) as usage_keys,
        {{ spark__json_measure("lines.variants['ng_perf']", '$.num_turns') }}
            as perf_turn_count,
        {{ spark__json_measure("lines.variants['ng_perf']", '$.num_tool_calls') }}
            as perf_tool_call_count,
        {{ spark__json_measure("lines.variants['ng_perf']", '$.total_latency_ms') }}
            as perf_latency_ms,
        {{ spark__json_measure("lines.variants['ng_perf']", '$.cached_prompt_tokens') }}
            as perf_cached_tokens,
        {{ spark__json_measure("lines.variants['ng_perf']", '$.reasoning_tokens') }}
            as perf_reasoning_tokens,
        {{ spark__json_measure(
            'lines.response', '$.usage.input_tokens_details.cached_tokens'
        ) }} as usage_cached_tokens,
        {{ spark__json_measure(
            'lines.response', '$.usage.output_tokens_details.reasoning_tokens'
        ) }} as usage_reasoning_tokens,
        {{ spark__json_measure("lines.variants['_spotter_latency_ms']", '$') }} as timed_ms,
        coalesce(array_contains(map_keys(lines.fields), runs.answer_field), false)
            as has_answer_field,
        lines.fields[runs.answer_field] as answer,
        {{ spark__slice_values('lines.fields', 'lines.texts', 'runs.slice_by') }}
            as slice_values,
        lines.response,
        lines.params,
        lines.created_second,
        lines.output,
        transform(lines.output, item -> coalesce(item.type, 'message')) as item_types
    from responses as lines
    inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.rollouts_file
),

rollouts as (
    select
        run_id,
        is_object,
        task_index,
        rollout_index,
        agent_name,
        server_name,
        mask,
        failure_kind,
        failure_reason,
        reward_text,
        own_fields,
        usage_fields,
        usage_keys,
        coalesce(array_size(array_distinct(usage_keys)) < array_size(usage_keys), false)
            as has_repeated_usage_key,
        perf_turn_count,
        perf_tool_call_count,
        perf_latency_ms,
        timed_ms,
        perf_cached_tokens,
        perf_reasoning_tokens,
        usage_cached_tokens,
        usage_reasoning_tokens,
        has_answer_field,
        answer,
        slice_values,
        try_variant_get(response, '$.model', 'string') as model_name,
        case
            when created_second between 1e9 and 1e11
                then cast(
                    timestamp_micros(cast(bround(created_second * 1e6) as bigint))
                    as timestamp_ntz
                )
        end as created_at,
        {{ spark__sampling('params') }} as sampling,
        output,
        slice(output, -1, 1) as last_output,
        item_types,
        element_at(item_types, -1) as last_type,
        element_at(output, -1).status as last_status,
        md5(to_json(output, map('ignoreNullFields', 'false'))) as output_hash,
        try_variant_get(response, '$.status', 'string') as status,
        try_variant_get(response, '$.incomplete_details.reason', 'string')
            as incomplete_reason
    from typed
)

select * from rollouts
