{% macro spark__list_map(list, item, expression) -%}
    transform({{ list }}, {{ item }} -> {{ expression }})
{%- endmacro %}
