{% macro duckdb__list_map(list, item, expression) -%}
    list_transform({{ list }}, lambda {{ item }}: {{ expression }})
{%- endmacro %}
