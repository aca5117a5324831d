{% macro duckdb__log_factorial(n) -%}
    lgamma({{ n }} + 1)
{%- endmacro %}
