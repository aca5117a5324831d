{% macro duckdb__list_mean(list) -%}
    list_avg({{ list }})
{%- endmacro %}
