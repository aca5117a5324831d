{# How many items a list has. #}
{% macro list_length(list) %}{{ return(adapter.dispatch('list_length')(list)) }}{% endmacro %}

{% macro duckdb__list_length(list) -%}
    len({{ list }})
{%- endmacro %}

{% macro spark__list_length(list) -%}
    cast(array_size({{ list }}) as bigint)
{%- endmacro %}
