{# The median as an aggregate: the mean of the middle two. percentile_cont would turn the smallest doubles into 0. Adding
   0 makes -0.0 and 0.0, which sort as equals, the same. #}
{% macro median(expression) -%}
    {%- set low = 'percentile_disc(0.5e0) within group (order by ' ~ expression ~ ')' -%}
    {%- set high = 'percentile_disc(0.5e0) within group (order by ' ~ expression ~ ' desc)' -%}
    case when {{ low }} = {{ high }} then {{ low }} + 0e0 else ({{ low }} + {{ high }}) / 2 end
{%- endmacro %}
