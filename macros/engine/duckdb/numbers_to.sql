{% macro duckdb__numbers_to(limit, first) -%}
    unnest(range({{ first }}, {{ limit }} + 1))
{%- endmacro %}
