{# Whether a JSON object has a field name twice. #}
{% macro has_repeated_key(document) %}
    {{- return(adapter.dispatch('has_repeated_key')(document)) -}}
{% endmacro %}

{% macro duckdb__has_repeated_key(document) %}
    {{ has_repetition(json_names(document)) }}
{% endmacro %}
