{% macro unnest_entries(entries) %}
    {{- return(adapter.dispatch('unnest_entries')(entries)) -}}
{% endmacro %}

{% macro duckdb__unnest_entries(entries) %}
    unnest({{ entries }}, recursive := true)
{% endmacro %}
