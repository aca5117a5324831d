{# The standard error of the mean of the values of a group, as an aggregate in a fixed order: exactly 0 if the values are all
   equal, but for rounding; null below two values, and if it or the mean overflows. #}
{% macro error_in_order(expression, order_by) -%}
    {%- set smallest = 'min(' ~ expression ~ ')' -%}
    {%- set largest = 'max(' ~ expression ~ ')' -%}
    case
        when {{ differ(smallest, largest) }}
            then {{ std_in_order(expression, order_by) }} / sqrt(count({{ expression }}))
        when count({{ expression }}) > 1 and {{ mean_in_order(expression, order_by) }} is not null
            then 0e0
    end
{%- endmacro %}
