{% macro duckdb__list_json(list) -%}
    cast(to_json({{ list }}) as varchar)
{%- endmacro %}
