{# Whether the smallest and the largest of some values differ by more than what rounding makes of equal ones. #}
{% macro differ(smallest, largest) -%}
    {{ largest }} - {{ smallest }} > 1e-12 * greatest(abs({{ largest }}), abs({{ smallest }}))
{%- endmacro %}
