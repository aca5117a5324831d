{# A time with the zone UTC. The columns of marts are in UTC but have no zone. #}
{% macro as_utc(column) %}
    {{- return(adapter.dispatch('as_utc')(column)) -}}
{% endmacro %}

{% macro duckdb__as_utc(column) %}
    timezone('UTC', {{ column }})
{% endmacro %}
