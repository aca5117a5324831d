{# How many items of the output call a tool. #}
{% macro counted_tool_calls(types) %}
    {{- return(adapter.dispatch('counted_tool_calls')(types)) -}}
{% endmacro %}

{% macro duckdb__counted_tool_calls(types) %}
    len(list_filter({{ types }}, lambda type: ends_with(type, '_call')))
{% endmacro %}
