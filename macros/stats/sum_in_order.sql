{# A sum of doubles in a fixed order: another order could give other bits. #}
{% macro sum_in_order(expression, order_by) -%}
    {{ list_sum(list_in_order(expression, [order_by])) }}
{%- endmacro %}
