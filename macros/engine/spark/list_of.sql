{% macro spark__list_of(items) -%}
    array({{ items | join(', ') }})
{%- endmacro %}
