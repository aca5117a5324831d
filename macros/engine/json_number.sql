{% macro json_number(number) %}
    {{- return(adapter.dispatch('json_number')(number)) -}}
{% endmacro %}

{% macro duckdb__json_number(number) %}
    to_json({{ number }})::varchar
{% endmacro %}
