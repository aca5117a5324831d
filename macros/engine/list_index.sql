{# The first position of a value in a list, from 0. Null if the list does not contain it. #}
{% macro list_index(list, value) %}
    {{- return(adapter.dispatch('list_index')(list, value)) -}}
{% endmacro %}

{% macro duckdb__list_index(list, value) %}
    cast(list_position({{ list }}, {{ value }}) - 1 as bigint)
{% endmacro %}
