{# The text of a JSON object, split wherever a key of some name stands. #}
{% macro split_at_key(document, name) %}
    {{- return(adapter.dispatch('split_at_key')(document, name)) -}}
{% endmacro %}

{% macro duckdb__split_at_key(document, name) %}
    string_split({{ document }}::varchar, '"{{ name }}":')
{% endmacro %}
