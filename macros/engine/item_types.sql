{# The types of the items in a response's output, in their order. #}
{% macro item_types(parts) %}
    {{- return(adapter.dispatch('item_types')(parts)) -}}
{% endmacro %}

{% macro duckdb__item_types(parts) %}
    list_transform({{ parts }}.output, lambda item: coalesce(item.type, 'message'))
{% endmacro %}
