{# `sequence` would count down to a limit below the first number. #}
{% macro spark__numbers_to(limit, first) -%}
    explode(case when {{ limit }} >= {{ first }} then sequence({{ first }}L, cast({{ limit }} as bigint)) end)
{%- endmacro %}
