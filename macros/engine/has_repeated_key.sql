{% macro has_repeated_key(entries) %}
    {{- return(adapter.dispatch('has_repeated_key')(entries)) -}}
{% endmacro %}

{% macro duckdb__has_repeated_key(entries) %}
    coalesce(
        len(list_distinct(list_transform({{ entries }}, lambda entry: entry.key)))
        != len({{ entries }}),
        false
    )
{% endmacro %}
