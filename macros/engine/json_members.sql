{% macro json_members(fields) %}
    {{- return(adapter.dispatch('json_members')(fields)) -}}
{% endmacro %}

{% macro duckdb__json_members(fields) %}
    array_to_string(
        list_transform(
            {{ fields }}, lambda field: to_json(field.name)::varchar || ':' || field.literal
        ),
        ','
    )
{% endmacro %}
