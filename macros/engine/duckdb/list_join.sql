{% macro duckdb__list_join(list, separator) -%}
    array_to_string({{ list }}, {{ separator }})
{%- endmacro %}
