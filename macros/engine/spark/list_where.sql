{% macro spark__list_where(list, item, condition) -%}
    filter({{ list }}, {{ item }} -> {{ condition }})
{%- endmacro %}
