{# A number for the output of a response, without ids and times; null if it has none, or an item whose fields are
   not known well enough to say that two are the same. #}
{% macro response_hash(parts) %}
    {{- return(adapter.dispatch('response_hash')(parts)) -}}
{% endmacro %}

{% macro duckdb__response_hash(parts) %}
    case
        when len({{ parts }}.output) > 0 and len(list_filter(
            {{ parts }}.output,
            lambda item: coalesce(item.type, 'message') not in (
                'message', 'reasoning', 'function_call', 'function_call_output',
                'custom_tool_call', 'custom_tool_call_output', 'mcp_call',
                'computer_call', 'computer_call_output', 'web_search_call',
                'code_interpreter_call', 'file_search_call'
            )
        )) = 0
            then hash({{ parts }}.output)
    end
{% endmacro %}
