{# A path as a pattern that matches just it. #}
{% macro glob_escaped(path) -%}
    regexp_replace({{ path }}, '([*?\[])', '[\1]', 'g')
{%- endmacro %}
