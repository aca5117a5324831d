{# The condition of a join on columns that have the same names on both sides. #}
{% macro same_key(left, right, columns) -%}
    {%- for column in columns -%}
    {{ left }}.{{ column }} = {{ right }}.{{ column }}{{ ' and ' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}
