{# An overflowing statistic is left out: infinity and NaN never reach a table or a file. #}
{% macro finite(expression) -%}
    case when {{ is_finite(expression) }} then {{ expression }} end
{%- endmacro %}
