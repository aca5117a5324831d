{# A literal. dbt renders what a hook returns once more, so no brace of the text may be left in it. #}
{% macro quoted(text) -%}
    ('{{ text | string | replace("'", "''") | replace("{", "' || chr(123) || '") }}')
{%- endmacro %}
