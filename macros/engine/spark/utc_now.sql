{% macro spark__utc_now() -%}
    cast(current_timestamp() as timestamp_ntz)
{%- endmacro %}
