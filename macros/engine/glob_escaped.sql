{# A path as a glob pattern that matches only this path. #}
{% macro glob_escaped(path) -%}
    regexp_replace({{ path }}, '([*?\[])', '[\1]', 'g')
{%- endmacro %}
