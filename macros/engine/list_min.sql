{% macro list_min(list) %}
    {{- return(adapter.dispatch('list_min')(list)) -}}
{% endmacro %}

{% macro duckdb__list_min(list) %}
    list_min({{ list }})
{% endmacro %}
