{# From 0; null if the value is not in the list. #}
{% macro duckdb__list_position(list, value) -%}
    cast(list_position({{ list }}, {{ value }}) - 1 as bigint)
{%- endmacro %}
