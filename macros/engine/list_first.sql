{# The first item of a list; null if it has none. #}
{% macro list_first(list) %}{{ return(adapter.dispatch('list_first')(list)) }}{% endmacro %}

{% macro duckdb__list_first(list) -%}
    ({{ list }})[1]
{%- endmacro %}

{% macro spark__list_first(list) -%}
    get({{ list }}, 0)
{%- endmacro %}
