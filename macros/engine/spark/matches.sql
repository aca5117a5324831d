{# The pattern is the text of a regular expression; in a raw literal a quote can only be written as a code. #}
{% macro spark__matches(text, pattern) -%}
    {{ text }} rlike r'{{ pattern | replace("'", "\\x27") }}'
{%- endmacro %}
