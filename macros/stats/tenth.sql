{# The tenth of a share that its counts fall into, from 0; a share of 1 belongs to the last. Null for no trials. #}
{% macro tenth(part, whole) -%}
    least(floor({{ part }} * 10 / nullif({{ whole }}, 0)), 9)
{%- endmacro %}
