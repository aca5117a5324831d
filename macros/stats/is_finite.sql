{# Whether a number is neither infinite nor NaN; null for null. #}
{% macro is_finite(number) -%}
    abs({{ number }}) < cast('infinity' as double)
{%- endmacro %}
