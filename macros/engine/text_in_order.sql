{# Texts in a fixed order, with a separator between them, as an aggregate. Nulls are left out. #}
{% macro text_in_order(expression, order_by, separator=',') -%}
    {{ return(adapter.dispatch('text_in_order')(expression, order_by, separator)) }}
{%- endmacro %}

{% macro duckdb__text_in_order(expression, order_by, separator) -%}
    string_agg({{ expression }}, '{{ separator }}' order by {{ order_by | join(', ') }})
{%- endmacro %}

{% macro spark__text_in_order(expression, order_by, separator) -%}
    listagg({{ expression }}, '{{ separator }}') within group (order by {{ order_by | join(', ') }})
{%- endmacro %}
