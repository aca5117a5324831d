{% macro duckdb__json_value(expression) -%}
    to_json({{ expression }})::varchar
{%- endmacro %}
