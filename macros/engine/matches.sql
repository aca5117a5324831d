{# Whether a text contains a match of a regular expression, which is given without quotes. #}
{% macro matches(text, pattern) %}{{ return(adapter.dispatch('matches')(text, pattern)) }}{% endmacro %}

{# The pattern is the text of a regular expression; a quote in it is doubled here. #}
{% macro duckdb__matches(text, pattern) -%}
    regexp_matches({{ text }}, '{{ pattern | replace("'", "''") }}')
{%- endmacro %}

{# The pattern is the text of a regular expression; in a raw literal a quote can only be written as a code. #}
{% macro spark__matches(text, pattern) -%}
    {{ text }} rlike r'{{ pattern | replace("'", "\\x27") }}'
{%- endmacro %}
