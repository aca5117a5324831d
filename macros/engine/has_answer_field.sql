{% macro has_answer_field(fields) %}
    {{- return(adapter.dispatch('has_answer_field')(fields)) -}}
{% endmacro %}

{% macro duckdb__has_answer_field(fields) %}
    coalesce(map_contains({{ fields }}, {{ setting('answer_field') }}), false)
{% endmacro %}
