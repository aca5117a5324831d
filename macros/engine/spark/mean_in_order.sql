{% macro spark__mean_in_order(expression, order_by) -%}
    {{ spark__list_mean(spark__values_in_order(expression, order_by)) }}
{%- endmacro %}
