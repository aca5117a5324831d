{# Some members of a JSON object as a list in the order of the names, parsing it once. #}
{% macro json_members(document, names) %}
    {{- return(adapter.dispatch('json_members')(document, names)) -}}
{% endmacro %}

{% macro duckdb__json_members(document, names) %}
    json_extract(
        {{ document }}, [{% for name in names %}'$."{{ name }}"'{{ ', ' if not loop.last }}{% endfor %}]
    )
{% endmacro %}
