{% macro field_count(fields) %}
    {{- return(adapter.dispatch('field_count')(fields)) -}}
{% endmacro %}

{% macro duckdb__field_count(fields) %}
    coalesce(len({{ fields }}), 0)
{% endmacro %}
