{# A string literal without braces: dbt renders the text of a hook a second time. #}
{% macro quoted(text) -%}
    ('{{ text | string | replace("'", "''") | replace("{", "' || chr(123) || '") }}')
{%- endmacro %}
