{# The answer of a rollout as JSON text, null if it has none. #}
{% macro answer_text(fields) %}
    {{- return(adapter.dispatch('answer_text')(fields)) -}}
{% endmacro %}

{% macro duckdb__answer_text(fields) %}
    {%- set answer = '(' ~ fields ~ '[' ~ setting('answer_field') ~ ']::varchar)' -%}
    case when {{ answer }} != 'null' then {{ short_text(answer) }} end
{% endmacro %}
