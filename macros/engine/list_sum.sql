{# The sum of a list. #}
{% macro list_sum(list) %}{{ return(adapter.dispatch('list_sum')(list)) }}{% endmacro %}

{# Without nulls; 0 if nothing is left. #}
{% macro duckdb__list_sum(list) -%}
    coalesce(list_sum({{ list }}), 0)
{%- endmacro %}

{# Without nulls; 0 if nothing is left. #}
{% macro spark__list_sum(list) -%}
    coalesce(aggregate({{ list }}, 0e0, (total, item) -> total + coalesce(cast(item as double), 0e0)), 0e0)
{%- endmacro %}
