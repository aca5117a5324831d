{% macro spark__list_join(list, separator) -%}
    array_join({{ list }}, {{ separator }})
{%- endmacro %}
