{% macro spark__record(columns) -%}
    named_struct(
        {%- for column in columns -%}
        '{{ column }}', {{ columns[column] if columns is mapping else column }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )
{%- endmacro %}
