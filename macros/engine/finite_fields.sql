{% macro finite_fields(fields) %}
    {{- return(adapter.dispatch('finite_fields')(fields)) -}}
{% endmacro %}

{% macro duckdb__finite_fields(fields) %}
    list_filter({{ fields }}, lambda field: isfinite(field.number))
{% endmacro %}
