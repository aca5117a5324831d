{# The values of a group up to this row, as a window function. #}
{% macro list_so_far(expression, groups, order_by) %}
    {{- return(adapter.dispatch('list_so_far')(expression, groups, order_by)) -}}
{% endmacro %}

{% macro duckdb__list_so_far(expression, groups, order_by) %}
    list({{ expression }}) over (partition by {{ groups | join(', ') }} order by {{ order_by }})
{% endmacro %}
