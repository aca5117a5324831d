{# The items of a list that meet a condition, in which `item` names one. #}
{% macro list_where(list, item, condition) %}{{ return(adapter.dispatch('list_where')(list, item, condition)) }}{% endmacro %}

{% macro duckdb__list_where(list, item, condition) -%}
    list_filter({{ list }}, lambda {{ item }}: {{ condition }})
{%- endmacro %}

{% macro spark__list_where(list, item, condition) -%}
    filter({{ list }}, {{ item }} -> {{ condition }})
{%- endmacro %}
