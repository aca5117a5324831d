{% macro list_length(list) %}
    {{- return(adapter.dispatch('list_length')(list)) -}}
{% endmacro %}

{% macro duckdb__list_length(list) %}
    len({{ list }})
{% endmacro %}
