{# The answer of a rollout as JSON text, null if it has none. A long one is cut, and its hash tells it apart. #}
{% macro answer_text(fields) %}
    {{- return(adapter.dispatch('answer_text')(fields)) -}}
{% endmacro %}

{% macro duckdb__answer_text(fields) %}
    {%- set answer = '(' ~ fields ~ '[' ~ setting('answer_field') ~ ']::varchar)' -%}
    case
        when {{ answer }} = 'null' then null
        when length({{ answer }}) <= 200 then {{ answer }}
        else {{ answer }}[:167] || '…' || md5({{ answer }})
    end
{% endmacro %}
