{# A text or a number as JSON. #}
{% macro json_value(expression) %}{{ return(adapter.dispatch('json_value')(expression)) }}{% endmacro %}

{% macro duckdb__json_value(expression) -%}
    to_json({{ expression }})::varchar
{%- endmacro %}

{# A number is written as DuckDB writes it, also where Java would take another power of ten. #}
{% macro spark__json_value(expression) -%}
    {{ spark__plain_numbers('to_json(cast(' ~ expression ~ ' as variant))') }}
{%- endmacro %}
