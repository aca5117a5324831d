{% macro unite_fields(winner, loser) %}
    {{- return(adapter.dispatch('unite_fields')(winner, loser)) -}}
{% endmacro %}

{% macro duckdb__unite_fields(winner, loser) %}
    {#- all fields of the winner, and those of the loser whose names it lacks -#}
    list_concat(
        {{ winner }},
        list_filter(
            {{ loser }},
            lambda other: not list_contains(
                list_transform({{ winner }}, lambda field: field.name), other.name
            )
        )
    )
{% endmacro %}
