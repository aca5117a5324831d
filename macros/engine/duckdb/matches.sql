{# The pattern is the text of a regular expression; a quote in it is doubled here. #}
{% macro duckdb__matches(text, pattern) -%}
    regexp_matches({{ text }}, '{{ pattern | replace("'", "''") }}')
{%- endmacro %}
