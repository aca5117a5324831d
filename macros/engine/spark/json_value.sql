{# A number is written as DuckDB writes it, also where Java would take another power of ten. #}
{% macro spark__json_value(expression) -%}
    {{ spark__plain_numbers('to_json(cast(' ~ expression ~ ' as variant))') }}
{%- endmacro %}
