{% macro spark__list_length(list) -%}
    cast(array_size({{ list }}) as bigint)
{%- endmacro %}
