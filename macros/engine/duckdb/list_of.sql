{% macro duckdb__list_of(items) -%}
    [{{ items | join(', ') }}]
{%- endmacro %}
