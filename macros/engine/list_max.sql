{% macro list_max(list) %}
    {{- return(adapter.dispatch('list_max')(list)) -}}
{% endmacro %}

{% macro duckdb__list_max(list) %}
    list_max({{ list }})
{% endmacro %}
