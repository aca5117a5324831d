{% macro json_integer(document) %}
    {{- return(adapter.dispatch('json_integer')(document)) -}}
{% endmacro %}

{% macro duckdb__json_integer(document) %}
    {#- only a value written as an integer is one: not 1.0 and not "1" -#}
    case
        when try_cast({{ document }}::varchar as bigint)::varchar = {{ document }}::varchar
            then try_cast({{ document }}::varchar as bigint)
    end
{% endmacro %}
