{% macro spark__rows_of(records) -%}
    inline({{ records }})
{%- endmacro %}
