{# A JSON value as text: a string without its quotes. #}
{% macro json_text(document) %}
    {{- return(adapter.dispatch('json_text')(document)) -}}
{% endmacro %}

{% macro duckdb__json_text(document) %}
    json_extract_string({{ document }}, '$')
{% endmacro %}
