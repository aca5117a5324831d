{# The texts of a list as one text. Nulls are left out. #}
{% macro list_join(list, separator) %}{{ return(adapter.dispatch('list_join')(list, separator)) }}{% endmacro %}

{% macro duckdb__list_join(list, separator) -%}
    array_to_string({{ list }}, {{ separator }})
{%- endmacro %}

{% macro spark__list_join(list, separator) -%}
    array_join({{ list }}, {{ separator }})
{%- endmacro %}
