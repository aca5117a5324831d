{% macro duckdb__list_where(list, item, condition) -%}
    list_filter({{ list }}, lambda {{ item }}: {{ condition }})
{%- endmacro %}
