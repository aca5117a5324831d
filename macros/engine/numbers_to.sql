{# Rows from the numbers up to a limit. #}
{% macro numbers_to(limit, first=1) %}{{ return(adapter.dispatch('numbers_to')(limit, first)) }}{% endmacro %}

{% macro duckdb__numbers_to(limit, first) -%}
    unnest(range({{ first }}, {{ limit }} + 1))
{%- endmacro %}

{# `sequence` would count down to a limit below the first number. #}
{% macro spark__numbers_to(limit, first) -%}
    explode(case when {{ limit }} >= {{ first }} then sequence({{ first }}L, cast({{ limit }} as bigint)) end)
{%- endmacro %}
