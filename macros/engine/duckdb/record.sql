{% macro duckdb__record(columns) -%}
    struct_pack(
        {%- for column in columns -%}
        {{ column }} := {{ columns[column] if columns is mapping else column }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )
{%- endmacro %}
