{% macro duckdb__one_spaced(text) -%}
    trim(regexp_replace({{ text }}, '\s+', ' ', 'g'))
{%- endmacro %}
