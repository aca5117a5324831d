{# The sum of a list without its nulls; 0 if nothing is left. #}
{% macro list_sum(list) %}
    {{- return(adapter.dispatch('list_sum')(list)) -}}
{% endmacro %}

{% macro duckdb__list_sum(list) %}
    coalesce(list_sum({{ list }}), 0)
{% endmacro %}
