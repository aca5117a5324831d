{# `collect_list` alone would drop nulls; the places make the order total, so that no value is compared. #}
{% macro spark__values_in_order(expression, order_by) -%}
    transform(
        array_sort(collect_list(struct(
            {%- for column in order_by -%}{{ column }} as place_{{ loop.index }}, {% endfor -%}
            {{ expression }} as item
        ))),
        entry -> entry.item
    )
{%- endmacro %}
