{% macro duckdb__rows_of(records) -%}
    unnest({{ records }}, recursive := true)
{%- endmacro %}
