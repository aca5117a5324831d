{# A text with one space where there was any white space. #}
{% macro one_spaced(text) %}{{ return(adapter.dispatch('one_spaced')(text)) }}{% endmacro %}

{% macro duckdb__one_spaced(text) -%}
    trim(regexp_replace({{ text }}, '\s+', ' ', 'g'))
{%- endmacro %}

{% macro spark__one_spaced(text) -%}
    trim(regexp_replace({{ text }}, r'\s+', ' '))
{%- endmacro %}
