{# 0 if there is no value that is not null. #}
{% macro duckdb__sum_in_order(expression, order_by) -%}
    coalesce(sum({{ expression }} order by {{ order_by | join(', ') }}), 0)
{%- endmacro %}
