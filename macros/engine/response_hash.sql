{# A number for the texts and tool calls of a response, without ids and times; null if there is no output. #}
{% macro response_hash(parts) %}
    {{- return(adapter.dispatch('response_hash')(parts)) -}}
{% endmacro %}

{% macro duckdb__response_hash(parts) %}
    case when len({{ parts }}.output) > 0 then hash({{ parts }}.output) end
{% endmacro %}
