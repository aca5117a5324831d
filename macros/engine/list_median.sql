{% macro list_median(list) %}
    {{- return(adapter.dispatch('list_median')(list)) -}}
{% endmacro %}

{% macro duckdb__list_median(list) %}
    list_median({{ list }})
{% endmacro %}
