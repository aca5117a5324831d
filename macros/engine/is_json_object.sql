{% macro is_json_object(document) %}
    {{- return(adapter.dispatch('is_json_object')(document)) -}}
{% endmacro %}

{% macro duckdb__is_json_object(document) %}
    coalesce(starts_with({{ document }}::varchar, chr(123)), false)
{% endmacro %}
