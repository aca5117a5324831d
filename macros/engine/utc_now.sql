{% macro utc_now() %}
    {{- return(adapter.dispatch('utc_now')()) -}}
{% endmacro %}

{% macro duckdb__utc_now() %}
    (now() at time zone 'UTC')
{% endmacro %}
