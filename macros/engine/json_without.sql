{% macro json_without(document, names) %}
    {{- return(adapter.dispatch('json_without')(document, names)) -}}
{% endmacro %}

{% macro duckdb__json_without(document, names) %}
    {#- the object as text, in its own order, without the named fields -#}
    '{' || array_to_string(
        list_transform(
            list_filter(
                {{ json_entries(document) }},
                lambda field: field.key not in ({{ "'" ~ names | join("', '") ~ "'" }})
            ),
            lambda field: to_json(field.key)::varchar || ':' || field.value
        ),
        ','
    ) || '}'
{% endmacro %}
