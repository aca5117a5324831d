{% macro scalar_fields(fields) %}
    {{- return(adapter.dispatch('scalar_fields')(fields)) -}}
{% endmacro %}

{% macro duckdb__scalar_fields(fields) %}
    {#- neither string, list nor object: the first character tells. A null is null here. -#}
    list_filter(
        map_entries({{ fields }}),
        lambda field: ascii(field.value) not in (34, 91, 123)
    )
{% endmacro %}
