{# An expression of each item of a list, in which `item` names it. #}
{% macro list_map(list, item, expression) %}{{ return(adapter.dispatch('list_map')(list, item, expression)) }}{% endmacro %}

{% macro duckdb__list_map(list, item, expression) -%}
    list_transform({{ list }}, lambda {{ item }}: {{ expression }})
{%- endmacro %}

{% macro spark__list_map(list, item, expression) -%}
    transform({{ list }}, {{ item }} -> {{ expression }})
{%- endmacro %}
