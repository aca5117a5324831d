{% macro json_integer(document) %}
    {{- return(adapter.dispatch('json_integer')(document)) -}}
{% endmacro %}

{% macro duckdb__json_integer(document) %}
    case
        when regexp_full_match({{ document }}, '-?[0-9]+')
            then try_cast({{ document }}::varchar as bigint)
    end
{% endmacro %}
