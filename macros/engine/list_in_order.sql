{% macro list_in_order(expression, order_by) %}
    {{- return(adapter.dispatch('list_in_order')(expression, order_by)) -}}
{% endmacro %}

{% macro duckdb__list_in_order(expression, order_by) %}
    list({{ expression }} order by {{ order_by | join(', ') }})
{% endmacro %}
