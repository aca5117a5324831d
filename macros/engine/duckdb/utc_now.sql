{% macro duckdb__utc_now() -%}
    now() at time zone 'UTC'
{%- endmacro %}
