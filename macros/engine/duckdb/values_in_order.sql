{% macro duckdb__values_in_order(expression, order_by) -%}
    list({{ expression }} order by {{ order_by | join(', ') }})
{%- endmacro %}
