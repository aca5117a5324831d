{# The values of a group as a list in a fixed order: what the ordered aggregates below it are made of. Equal lists in one
   select are made and sorted once. #}
{% macro values_in_order(expression, order_by) -%}
    {{ return(adapter.dispatch('values_in_order')(expression, order_by)) }}
{%- endmacro %}

{% macro duckdb__values_in_order(expression, order_by) -%}
    list({{ expression }} order by {{ order_by | join(', ') }})
{%- endmacro %}

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
