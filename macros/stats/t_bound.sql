{# A bound of the 95 % interval of the mean of some values, by Student's t; sign is '-' or '+'. Null for one value, and if
   it overflows. #}
{% macro t_bound(mean, std, count, t, sign) -%}
    {%- set bound = mean ~ ' ' ~ sign ~ ' ' ~ t ~ ' * (' ~ std ~ ' / sqrt(' ~ count ~ '))' -%}
    case when {{ count }} > 1 then {{ finite(bound) }} end
{%- endmacro %}
