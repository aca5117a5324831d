{# A hash of the output of a response, without ids and times. Null without an output, or if an item is of an unknown
   type, because two such items could differ in fields that the hash leaves out. #}
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
