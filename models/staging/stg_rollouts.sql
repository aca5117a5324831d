with

-- no name that begins with `_` is a metric of the rollout, nor is the mask; what begins
-- with `_` in the usage stays for the compact record
fields as (
    select
        *,
        {{ list_where(
            'own_fields', 'field',
            "ascii(field.key) != 95 and field.key not in ('mask_sample', 'response')"
        ) }} as own_numbers,
        {{ list_where(
            'usage_fields', 'field',
            "field.key not in ('_ng_task_index', '_ng_rollout_index', 'response')"
        ) }} as usage_numbers
    from {{ ref('base_rollouts') }}
),

-- lists are worked out in columns of their own: a lambda that looks into an expression
-- would work it out again for every item
counted as (
    select
        *,
        try_cast(reward_text as double) as reward_number,
        {{ list_map('own_numbers', 'field', 'field.key') }} as own_keys,
        {{ list_map('usage_numbers', 'field', 'field.key') }} as usage_number_keys,
        -- anything that Python takes for true
        coalesce(
            mask not in ('null', 'false', '""', '[]', '{}')
            and coalesce(try_cast(mask as double) != 0, true),
            false
        ) as is_masked,
        -- a server that does not count tokens: not that there were none
        cardinality(usage_numbers) > 0
        and cardinality({{ list_where(
            'usage_numbers', 'field', "cast(field.value as string) not in ('0', '0.0')"
        ) }}) = 0 as is_usage_zero,
        -- a field of the usage hides the rollout's own, whatever its type
        {{ list_map(
            list_where('usage_numbers', 'field', 'ascii(field.key) != 95')
            ~ ' || ' ~ list_where(
                'own_numbers', 'field',
                'not coalesce(array_contains(usage_keys, field.key), false)'
            ),
            'field',
            record({'metric': 'field.key', 'value': metric_number('field.value')})
        ) }} as metrics,
        {{ list_where('item_types', 'type', "right(type, 5) = '_call'") }} as calls,
        {{ list_where('item_types', 'type', "type in (
            'function_call', 'custom_tool_call', 'computer_call'
        )") }} as paired_calls,
        {{ list_where('item_types', 'type', "type in (
            'function_call_output', 'custom_tool_call_output', 'computer_call_output'
        )") }} as call_outputs,
        {{ list_where('item_types', 'type', "type not in (
            'message', 'reasoning', 'function_call', 'function_call_output',
            'custom_tool_call', 'custom_tool_call_output', 'mcp_call', 'computer_call',
            'computer_call_output', 'web_search_call', 'code_interpreter_call',
            'file_search_call'
        )") }} as unknown_items,
        -- each item of the model and each result of a tool as one character
        '-' || {{ list_join(
            list_map(
                'item_types', 'type',
                "case when right(type, 7) = '_output' then '-' else 'm' end"
            ),
            "''"
        ) }} as steps
    from fields
),

-- the rollout's own number hides that of the usage, except for the reward
described as (
    select
        *,
        {{ list_map(
            list_where(
                "(" ~ list_where('own_numbers', 'field', "field.key != 'reward'")
                ~ ' || ' ~ list_where(
                    'usage_numbers', 'field',
                    "field.key = 'reward' or not array_contains(own_keys, field.key)"
                ) ~ ")",
                'field', is_finite(metric_number('field.value'))
            ),
            'field',
            json_value('field.key') ~ " || ':' || case cast(field.value as string)
                when 'true' then '1' when 'false' then '0'
                else cast(field.value as string)
            end"
        ) }} as info_members
    from counted
),

rollouts as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        server_name,
        not is_masked as is_measured,
        substr(nullif(failure_kind, ''), 1, 100) as failure_kind,
        substr(nullif(failure_reason, ''), 1, 500) as failure_reason,
        model_name,
        created_at,
        sampling,
        -- a masked rollout measures nothing, whatever reward it was given
        case when not is_masked then {{ metric_value('metrics', 'reward') }} end
            as reward,
        case
            when not is_usage_zero then {{ metric_value('metrics', 'input_tokens') }}
        end as input_tokens,
        case
            when not is_usage_zero then {{ metric_value('metrics', 'output_tokens') }}
        end as output_tokens,
        case
            when not is_usage_zero then {{ metric_value('metrics', 'total_tokens') }}
        end as total_tokens,
        coalesce(perf_cached_tokens, usage_cached_tokens) as cached_tokens,
        coalesce(perf_reasoning_tokens, usage_reasoning_tokens) as reasoning_tokens,
        -- a result of a tool with an item of the model behind it begins another turn
        coalesce(
            perf_turn_count, (length(steps) - length(replace(steps, '-m', ''))) / 2
        ) as turn_count,
        coalesce(perf_tool_call_count, cast(cardinality(calls) as double))
            as tool_call_count,
        coalesce(perf_latency_ms, timed_ms) as latency_ms,
        metrics,
        '{' || concat_ws(
            ',',
            case
                when not array_contains(own_keys, 'rollout_id')
                    and not array_contains(usage_number_keys, 'rollout_id')
                    then '"rollout_id":"' || task_index || ':' || rollout_index || '"'
            end,
            '"_ng_task_index":' || task_index,
            '"_ng_rollout_index":' || rollout_index,
            case
                when not array_contains(usage_number_keys, 'reward')
                    and coalesce({{ is_finite('reward_number') }}, true)
                    then '"reward":' || reward_text
            end,
            nullif({{ list_join('info_members', "','") }}, '')
        ) || '}' as info,
        cardinality(usage_numbers) > 0 and not is_usage_zero as has_usage,
        has_answer_field,
        case when answer != 'null' then {{ short_text('answer') }} end as answer,
        slice_values,
        -- a call is enough: looking for a text takes longer
        case
            when cardinality(calls) > 0 then false
            else {{ is_output_empty('output') }}
        end as is_output_empty,
        -- of other kinds of calls the result is part of the call
        greatest(
            0,
            cast(cardinality(paired_calls) as bigint)
            - cast(cardinality(call_outputs) as bigint)
        ) as open_call_count,
        coalesce(right(last_type, 7) = '_output', false) as is_result_last,
        case
            when last_type = 'message' and cardinality(calls) > 0
                then {{ is_output_empty('last_output') }}
            else false
        end as is_final_answer_empty,
        coalesce(status = 'incomplete', false)
        or coalesce(last_status = 'incomplete', false)
        or incomplete_reason is not null as is_truncated,
        -- null also for an item whose fields are not known well enough to say that two
        -- outputs are the same
        case
            when cardinality(item_types) > 0 and cardinality(unknown_items) = 0
                then output_hash
        end as response_hash,
        -- a name twice in the usage: only Python reads that as it is meant
        is_object
        and not has_repeated_usage_key
        and task_index is not null
        and rollout_index is not null as is_readable
    from described
)

select * from rollouts
