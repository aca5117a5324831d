{% macro spark__text_in_order(expression, order_by) -%}
    listagg({{ expression }}, ',') within group (order by {{ order_by | join(', ') }})
{%- endmacro %}
