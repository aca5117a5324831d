{# One field of every record in a list; only of those whose field `where` is true, if one is named. #}
{% macro list_field(list, field, where=none) %}
    {{- return(adapter.dispatch('list_field')(list, field, where)) -}}
{% endmacro %}

{% macro duckdb__list_field(list, field, where) %}
    {%- set kept = list -%}
    {%- if where -%}
        {%- set kept = 'list_filter(' ~ list ~ ', lambda item: item.' ~ where ~ ')' -%}
    {%- endif -%}
    list_transform({{ kept }}, lambda item: item.{{ field }})
{% endmacro %}
