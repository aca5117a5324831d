{# How many tool calls have no result. Of other kinds of calls the result is part of the call. The argument is the list of
   the items' types. #}
{% macro open_call_count(item_types) -%}
    greatest(
        0,
        {{ list_length(list_where(item_types, 'type', "type in ('function_call', 'custom_tool_call', 'computer_call')")) }}
        - {{ list_length(list_where(
            item_types, 'type', "type in ('function_call_output', 'custom_tool_call_output', 'computer_call_output')"
        )) }}
    )
{%- endmacro %}
