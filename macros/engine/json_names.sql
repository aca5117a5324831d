{# The names of a JSON object's fields, in their order; null for anything else. #}
{% macro json_names(document) %}
    {{- return(adapter.dispatch('json_names')(document)) -}}
{% endmacro %}

{% macro duckdb__json_names(document) %}
    json_keys({{ document }})
{% endmacro %}
