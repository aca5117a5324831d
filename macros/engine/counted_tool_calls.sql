{# How many items of the output call a tool. #}
{% macro counted_tool_calls(parts) %}
    {{- return(adapter.dispatch('counted_tool_calls')(parts)) -}}
{% endmacro %}

{% macro duckdb__counted_tool_calls(parts) %}
    len(list_filter(
        {{ parts }}.output,
        lambda item: coalesce(ends_with(item.type, '_call'), false)
    ))
{% endmacro %}
