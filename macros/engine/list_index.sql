{# Where a value first is in a list, from 0; null if it is not there. #}
{% macro list_index(list, value) %}
    {{- return(adapter.dispatch('list_index')(list, value)) -}}
{% endmacro %}

{% macro duckdb__list_index(list, value) %}
    cast(list_position({{ list }}, {{ value }}) - 1 as bigint)
{% endmacro %}
