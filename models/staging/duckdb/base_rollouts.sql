with

-- a line that is not a JSON object has no fields
lines as (
    select
        file_path,
        fields,
        fields['response'] as response
    from
        read_json(
            getvariable('spotter_rollouts_files'),
            format = 'newline_delimited',
            records = 'false',
            columns = { 'fields': 'MAP(VARCHAR, JSON)' },
            ignore_errors = true,
            allow_empty = true,
            filename = 'file_path',
            maximum_object_size = getvariable('spotter_max_row_bytes')
        )
),

-- what a response says of itself, in one pass over its text
responses as (
    select
        *,
        from_json(response, '{
            "model": "VARCHAR", "status": "VARCHAR", "created_at": "DOUBLE",
            "temperature": "DOUBLE", "top_p": "DOUBLE", "max_output_tokens": "BIGINT",
            "reasoning": "JSON", "incomplete_details": "JSON", "usage": "JSON",
            "output": [{
                "type": "VARCHAR", "status": "VARCHAR", "content": "JSON",
                "name": "VARCHAR", "arguments": "VARCHAR", "input": "VARCHAR",
                "action": "VARCHAR", "code": "VARCHAR", "queries": "VARCHAR",
                "summary": "VARCHAR"
            }]
        }') as parts
    from lines
),

-- A repeated usage: the last counts, as Python reads it. Usually it is the last member,
-- or `user` alone follows it, which the end of the text tells. The text is minified and
-- a quote inside a string is escaped, so `"usage":` can only be a key.
usages as (
    select
        *,
        case
            when ends_with(response, ',"usage":' || parts.usage || '}')
                or ends_with(response, ',"usage":' || parts.usage || ',"user":null}')
                then parts.usage
            when response like '%"usage":%"usage":%'
                then list_filter(
                        {{ duckdb__json_members('response') }},
                        lambda member: member.key = 'usage'
                    )[-1].value
            else parts.usage
        end as usage
    from responses
),

-- the first character of a value tells numbers and booleans from strings, lists and
-- objects
typed as (
    select
        runs.run_id,
        usages.fields is not null as is_object,
        {{ duckdb__json_integer("usages.fields['_ng_task_index']") }} as task_index,
        {{ duckdb__json_integer("usages.fields['_ng_rollout_index']") }}
            as rollout_index,
        json_extract_string(usages.fields['agent_ref'], '$.name') as agent_name,
        json_extract_string(usages.fields['_ng_environment_server'], '$')
            as server_name,
        usages.fields['mask_sample']::varchar as mask,
        json_extract_string(usages.fields['failure_kind'], '$') as failure_kind,
        json_extract_string(usages.fields['failure_reason'], '$') as failure_reason,
        case
            when map_contains(usages.fields, 'reward')
                then coalesce(usages.fields['reward']::varchar, 'null')
        end as reward_text,
        coalesce(list_filter(
            map_entries(usages.fields),
            lambda field: ascii(field.value) not in (34, 91, 123)
            and field.value::varchar != 'null'
        ), []) as own_fields,
        coalesce(list_filter(
            {{ duckdb__json_members('usages.usage') }},
            lambda field: ascii(field.value) not in (34, 91, 123)
            and field.value::varchar != 'null'
        ), []) as usage_fields,
        json_keys(usages.usage) as usage_keys,
        {{ duckdb__json_measures("usages.fields['ng_perf']", [
            '$.num_turns', '$.num_tool_calls', '$.total_latency_ms',
            '$.cached_prompt_tokens', '$.reasoning_tokens'
        ]) }} as perf,
        {{ duckdb__json_measures('usages.usage', [
            '$.input_tokens_details.cached_tokens',
            '$.output_tokens_details.reasoning_tokens'
        ]) }} as details,
        {{ duckdb__json_measures("usages.fields['_spotter_latency_ms']", ['$']) }}[1]
            as timed_ms,
        coalesce(map_contains(usages.fields, runs.answer_field), false)
            as has_answer_field,
        usages.fields[runs.answer_field]::varchar as answer,
        {{ duckdb__slice_values('usages.fields', 'runs.slice_by') }} as slice_values,
        usages.parts,
        usages.parts.output,
        list_transform(
            usages.parts.output, lambda item: coalesce(item.type, 'message')
        ) as item_types
    from usages
    inner join {{ ref('stg_runs') }} as runs
        on usages.file_path = runs.rollouts_file
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
        coalesce(list_unique(usage_keys) < len(usage_keys), false)
            as has_repeated_usage_key,
        perf[1] as perf_turn_count,
        perf[2] as perf_tool_call_count,
        perf[3] as perf_latency_ms,
        timed_ms,
        perf[4] as perf_cached_tokens,
        perf[5] as perf_reasoning_tokens,
        details[1] as usage_cached_tokens,
        details[2] as usage_reasoning_tokens,
        has_answer_field,
        answer,
        slice_values,
        parts.model as model_name,
        case
            when parts.created_at between 1e9 and 1e11
                then make_timestamp((parts.created_at * 1e6)::bigint)
        end as created_at,
        {{ duckdb__sampling('parts') }} as sampling,
        output,
        output[-1:] as last_output,
        item_types,
        item_types[-1] as last_type,
        output[-1].status as last_status,
        hash(output) as output_hash,
        parts.status,
        json_extract_string(parts.incomplete_details, '$.reason') as incomplete_reason
    from typed
)

select * from rollouts
