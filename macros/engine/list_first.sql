{# The first so many values of a list. #}
{% macro list_first(list, count) %}
    {{- return(adapter.dispatch('list_first')(list, count)) -}}
{% endmacro %}

{% macro duckdb__list_first(list, count) %}
    {{- list }}[:{{ count }}]
{% endmacro %}
