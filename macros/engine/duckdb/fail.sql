{% macro duckdb__fail(message) -%}
    error({{ message }})
{%- endmacro %}
