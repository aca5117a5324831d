{# Without nulls; 0 if nothing is left. #}
{% macro duckdb__list_sum(list) -%}
    coalesce(list_sum({{ list }}), 0)
{%- endmacro %}
