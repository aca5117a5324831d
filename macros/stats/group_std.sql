{# The sample standard deviation of the values of a group: 0 in a group of one, null for one value of a larger group, and
   null if it or the mean overflows. #}
{% macro group_std(list, mean, group_size) -%}
    case when {{ group_size }} = 1 then 0e0 else {{ sample_std(list, mean) }} end
{%- endmacro %}
