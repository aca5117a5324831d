{# A number or boolean as a double; booleans are 0 and 1. #}
{% macro entry_number(value) %}
    {{- return(adapter.dispatch('entry_number')(value)) -}}
{% endmacro %}

{% macro duckdb__entry_number(value) %}
    case {{ value }}::varchar
        when 'true' then 1.0
        when 'false' then 0.0
        else try_cast({{ value }}::varchar as double)
    end
{% endmacro %}
