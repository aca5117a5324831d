{% macro list_mean(list) %}
    {{- return(adapter.dispatch('list_mean')(list)) -}}
{% endmacro %}

{% macro duckdb__list_mean(list) %}
    (list_sum({{ list }}) / len({{ list }}))
{% endmacro %}
