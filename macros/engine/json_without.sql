{% macro json_without(entries, names) %}
    {{- return(adapter.dispatch('json_without')(entries, names)) -}}
{% endmacro %}

{% macro duckdb__json_without(entries, names) %}
    {#- the object as text, in its own order, without the named fields -#}
    '{' || array_to_string(
        list_transform(
            list_filter(
                {{ entries }},
                lambda field: field.key not in ({{ "'" ~ names | join("', '") ~ "'" }})
            ),
            lambda field: to_json(field.key)::varchar || ':' || coalesce(field.value, 'null')
        ),
        ','
    ) || '}'
{% endmacro %}
