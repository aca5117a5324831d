{% macro json_without(fields, names) %}
    {{- return(adapter.dispatch('json_without')(fields, names)) -}}
{% endmacro %}

{% macro duckdb__json_without(fields, names) %}
    {#- the object as text, in its own order, without the named fields -#}
    '{' || array_to_string(
        list_transform(
            list_filter(
                map_entries({{ fields }}),
                lambda field: field.key not in ({{ "'" ~ names | join("', '") ~ "'" }})
            ),
            lambda field: to_json(field.key)::varchar || ':' || coalesce(field.value, 'null')
        ),
        ','
    ) || '}'
{% endmacro %}
