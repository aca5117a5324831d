{# Some columns as one value with fields of their names. #}
{% macro duckdb__record(columns) -%}
    struct_pack(
        {%- for column in columns %}{{ column }} := {{ column }}{{ ', ' if not loop.last }}{% endfor -%}
    )
{%- endmacro %}
