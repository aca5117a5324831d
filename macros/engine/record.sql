{# Some columns as one value with fields of their names, or from a map of names to expressions. #}
{% macro record(columns) %}{{ return(adapter.dispatch('record')(columns)) }}{% endmacro %}

{% macro duckdb__record(columns) -%}
    struct_pack(
        {%- for column in columns -%}
        {{ column }} := {{ columns[column] if columns is mapping else column }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )
{%- endmacro %}

{% macro spark__record(columns) -%}
    named_struct(
        {%- for column in columns -%}
        '{{ column }}', {{ columns[column] if columns is mapping else column }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )
{%- endmacro %}
