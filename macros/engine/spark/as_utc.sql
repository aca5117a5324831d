{% macro spark__as_utc(column) -%}
    cast({{ column }} as timestamp_ltz)
{%- endmacro %}
