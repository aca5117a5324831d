{# The names in a list of (key, value). Store them in a column before a lambda uses them: the lambda would compute the
   list again for every element. #}
{% macro entry_keys(entries) %}
    {{- return(adapter.dispatch('entry_keys')(entries)) -}}
{% endmacro %}

{% macro duckdb__entry_keys(entries) %}
    list_transform({{ entries }}, lambda entry: entry.key)
{% endmacro %}
