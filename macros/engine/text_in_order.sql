{# Texts in a fixed order, with commas between them, as an aggregate. #}
{% macro text_in_order(expression, order_by) %}{{ return(adapter.dispatch('text_in_order')(expression, order_by)) }}{% endmacro %}

{% macro duckdb__text_in_order(expression, order_by) -%}
    string_agg({{ expression }}, ',' order by {{ order_by | join(', ') }})
{%- endmacro %}

{% macro spark__text_in_order(expression, order_by) -%}
    listagg({{ expression }}, ',') within group (order by {{ order_by | join(', ') }})
{%- endmacro %}
