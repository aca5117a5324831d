{% macro list_flatten(lists) %}
    {{- return(adapter.dispatch('list_flatten')(lists)) -}}
{% endmacro %}

{% macro duckdb__list_flatten(lists) %}
    flatten({{ lists }})
{% endmacro %}
