{% macro json_integer(document) %}
    {{- return(adapter.dispatch('json_integer')(document)) -}}
{% endmacro %}

{% macro duckdb__json_integer(document) %}
    {#- only what is written as an integer: neither 1.0 nor "1" comes back as it was -#}
    case
        when try_cast({{ document }}::varchar as bigint)::varchar = {{ document }}::varchar
            then try_cast({{ document }}::varchar as bigint)
    end
{% endmacro %}
