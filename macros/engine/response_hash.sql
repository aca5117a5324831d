{# A number for the output of a response, without ids and times; null if it has none, or an item whose fields are
   not known well enough to say that two are the same. #}
{% macro response_hash(parts, types) %}
    {{- return(adapter.dispatch('response_hash')(parts, types)) -}}
{% endmacro %}

{% macro duckdb__response_hash(parts, types) %}
    case
        when len({{ types }}) > 0 and list_has_all(
            [
                'message', 'reasoning', 'function_call', 'function_call_output',
                'custom_tool_call', 'custom_tool_call_output', 'mcp_call',
                'computer_call', 'computer_call_output', 'web_search_call',
                'code_interpreter_call', 'file_search_call'
            ],
            {{ types }}
        )
            then hash({{ parts }}.output)
    end
{% endmacro %}
