{# From 0; null if the value is not in the list. #}
{% macro spark__list_position(list, value) -%}
    nullif(array_position({{ list }}, {{ value }}), 0) - 1
{%- endmacro %}
