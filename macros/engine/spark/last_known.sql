{% macro spark__last_known(expression) -%}
    last_value({{ expression }}) ignore nulls
{%- endmacro %}
