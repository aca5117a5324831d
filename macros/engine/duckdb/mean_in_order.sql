{% macro duckdb__mean_in_order(expression, order_by) -%}
    avg({{ expression }} order by {{ order_by | join(', ') }})
{%- endmacro %}
