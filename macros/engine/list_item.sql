{% macro list_item(list, place) %}
    {{- return(adapter.dispatch('list_item')(list, place)) -}}
{% endmacro %}

{% macro duckdb__list_item(list, place) %}
    {{- list }}[{{ place }}]
{% endmacro %}
