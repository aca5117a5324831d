{% macro duckdb__numbers_to(limit) -%}
    unnest(range(1, {{ limit }} + 1))
{%- endmacro %}
