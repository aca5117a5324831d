{# A term of the quadrature that gives the two-sided tail of the normal distribution beyond z, at least 0, as in
   `t_tail_term`. #}
{% macro normal_tail_term(z, place, weight) -%}
    {%- set width = '(sqrt(' ~ z ~ ' * ' ~ z ~ ' + 83) - ' ~ z ~ ')' -%}
    sqrt(2 / pi()) * {{ weight }} * {{ width }} * exp(-power({{ z }} + {{ width }} * {{ place }}, 2) / 2)
{%- endmacro %}
