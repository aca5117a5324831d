{% macro json_map(document) %}
    {{- return(adapter.dispatch('json_map')(document)) -}}
{% endmacro %}

{% macro duckdb__json_map(document) %}
    try_cast({{ document }} as map(varchar, json))
{% endmacro %}
