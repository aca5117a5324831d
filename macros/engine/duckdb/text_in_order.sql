{% macro duckdb__text_in_order(expression, order_by) -%}
    string_agg({{ expression }}, ',' order by {{ order_by | join(', ') }})
{%- endmacro %}
