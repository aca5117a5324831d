{# A time that says that it is UTC, where the columns of marts only mean it. #}
{% macro as_utc(column) %}
    {{- return(adapter.dispatch('as_utc')(column)) -}}
{% endmacro %}

{% macro duckdb__as_utc(column) %}
    timezone('UTC', {{ column }})
{% endmacro %}
