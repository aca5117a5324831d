{% macro duckdb__as_utc(column) -%}
    timezone('UTC', {{ column }})
{%- endmacro %}
