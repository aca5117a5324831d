{% macro unnest_fields(fields) %}
    {{- return(adapter.dispatch('unnest_fields')(fields)) -}}
{% endmacro %}

{% macro duckdb__unnest_fields(fields) %}
    unnest({{ fields }}, recursive := true)
{% endmacro %}
