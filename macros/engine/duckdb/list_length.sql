{% macro duckdb__list_length(list) -%}
    len({{ list }})
{%- endmacro %}
