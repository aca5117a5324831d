{% macro spark__fail(message) -%}
    cast(raise_error({{ message }}) as string)
{%- endmacro %}
