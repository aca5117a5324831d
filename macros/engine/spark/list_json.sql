{% macro spark__list_json(list) -%}
    to_json({{ list }})
{%- endmacro %}
