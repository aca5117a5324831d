{# A number for the output of a response, without ids and times; null if it has none, or an item whose fields are not
   known well enough to say that two are the same. #}
{% macro response_hash(item_types, output_hash) -%}
    {%- set unknown -%}
        type not in (
            'message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call',
            'custom_tool_call_output', 'mcp_call', 'computer_call', 'computer_call_output', 'web_search_call',
            'code_interpreter_call', 'file_search_call'
        )
    {%- endset -%}
    case
        when {{ list_length(item_types) }} > 0 and {{ list_length(list_where(item_types, 'type', unknown)) }} = 0
            then {{ output_hash }}
    end
{%- endmacro %}
