{# `sequence` would count down to a limit below 1. #}
{% macro spark__numbers_to(limit) -%}
    explode(case when {{ limit }} > 0 then sequence(1L, cast({{ limit }} as bigint)) end)
{%- endmacro %}
