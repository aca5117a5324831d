{# Whether the smallest and the largest of some values differ by more than a rounding error. #}
{% macro differ(smallest, largest) -%}
    {{ largest }} - {{ smallest }} > 1e-12 * greatest(abs({{ largest }}), abs({{ smallest }}))
{%- endmacro %}
