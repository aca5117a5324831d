{% macro without_nulls(list) %}
    {{- return(adapter.dispatch('without_nulls')(list)) -}}
{% endmacro %}

{% macro duckdb__without_nulls(list) %}
    list_filter({{ list }}, lambda item: item is not null)
{% endmacro %}
