{# The names in a list of (key, value). A lambda that looks into them wants them as a column: it would work out a list
   of its own for every element. #}
{% macro entry_keys(entries) %}
    {{- return(adapter.dispatch('entry_keys')(entries)) -}}
{% endmacro %}

{% macro duckdb__entry_keys(entries) %}
    list_transform({{ entries }}, lambda entry: entry.key)
{% endmacro %}
