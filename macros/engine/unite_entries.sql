{% macro unite_entries(winner, loser) %}
    {{- return(adapter.dispatch('unite_entries')(winner, loser)) -}}
{% endmacro %}

{% macro duckdb__unite_entries(winner, loser) %}
    {#- all entries of the winner, and those of the loser whose keys it lacks -#}
    list_concat(
        {{ winner }},
        list_filter(
            {{ loser }},
            lambda other: not list_contains(
                list_transform({{ winner }}, lambda entry: entry.key), other.key
            )
        )
    )
{% endmacro %}
