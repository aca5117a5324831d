{# Sums of integers become wider than BI tools can read: bring them back to 64 bits. #}
{% macro integer(expression) -%}
    cast({{ expression }} as bigint)
{%- endmacro %}
