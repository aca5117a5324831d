{# The numbers at some paths of a JSON document, as a list in their order; null for anything else. #}
{% macro json_measures(document, paths) %}
    {{- return(adapter.dispatch('json_measures')(document, paths)) -}}
{% endmacro %}

{% macro duckdb__json_measures(document, paths) %}
    list_transform(
        json_extract({{ document }}, ['{{ paths | join("', '") }}']),
        lambda found: try_cast(found::varchar as double)
    )
{% endmacro %}
