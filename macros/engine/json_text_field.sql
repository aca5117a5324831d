{% macro json_text_field(document, name) %}
    {{- return(adapter.dispatch('json_text_field')(document, name)) -}}
{% endmacro %}

{% macro duckdb__json_text_field(document, name) %}
    json_extract_string({{ document }}, '$."{{ name }}"')
{% endmacro %}
