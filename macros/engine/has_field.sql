{% macro has_field(fields, name) %}
    {{- return(adapter.dispatch('has_field')(fields, name)) -}}
{% endmacro %}

{% macro duckdb__has_field(fields, name) %}
    coalesce(map_contains({{ fields }}, '{{ name }}'), false)
{% endmacro %}
