{# 0 if there is no value that is not null. #}
{% macro spark__sum_in_order(expression, order_by) -%}
    {{ spark__list_sum(spark__values_in_order(expression, order_by)) }}
{%- endmacro %}
