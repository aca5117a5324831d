{% macro json_string(text) %}
    {{- return(adapter.dispatch('json_string')(text)) -}}
{% endmacro %}

{% macro duckdb__json_string(text) %}
    to_json({{ text }})::varchar
{% endmacro %}
