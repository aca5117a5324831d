{% macro json_field(document, name) %}
    {{- return(adapter.dispatch('json_field')(document, name)) -}}
{% endmacro %}

{% macro duckdb__json_field(document, name) %}
    json_extract({{ document }}, '$."{{ name }}"')
{% endmacro %}
