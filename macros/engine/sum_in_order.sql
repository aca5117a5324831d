{# The sum of the values of a group, as an aggregate in a fixed order: as mean_in_order, but 0 if there is no value that is
   not null. #}
{% macro sum_in_order(expression, order_by) -%}
    {{ return(adapter.dispatch('sum_in_order')(expression, order_by)) }}
{%- endmacro %}

{% macro duckdb__sum_in_order(expression, order_by) -%}
    coalesce(sum({{ expression }} order by {{ order_by | join(', ') }}), 0)
{%- endmacro %}

{% macro spark__sum_in_order(expression, order_by) -%}
    aggregate(
        {{ spark__values_in_order(expression, order_by) }},
        0e0,
        (total, item) -> total + coalesce(cast(item as double), 0e0)
    )
{%- endmacro %}
