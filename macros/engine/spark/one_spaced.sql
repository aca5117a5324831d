{% macro spark__one_spaced(text) -%}
    trim(regexp_replace({{ text }}, r'\s+', ' '))
{%- endmacro %}
