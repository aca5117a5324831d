{# The sum of a field over a list of records, plus its sum over the last records of the rows that a window names: those
   for which `is_last` holds. A record is called `task` in both expressions. #}
{% macro carried_sum(list, field, is_last, rows_before) -%}
    {{ list_sum(list_map(list, 'task', field)) }}
    + coalesce(sum({{ list_sum(list_map(list_where(list, 'task', is_last), 'task', field)) }}) over {{ rows_before }}, 0)
{%- endmacro %}
