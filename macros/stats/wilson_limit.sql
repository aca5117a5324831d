{# A bound of Wilson's score interval of a share: the quantile may be Student's, the number of trials need not be whole;
   sign is '-' or '+'. #}
{% macro wilson_limit(share, trials, quantile, sign) -%}
    {%- set square = quantile ~ ' * ' ~ quantile -%}
    least(1e0, greatest(0e0, (
        {{ share }} + {{ square }} / (2 * {{ trials }})
        {{ sign }} {{ quantile }} * sqrt(
            {{ share }} * (1 - {{ share }}) / {{ trials }} + {{ square }} / (4e0 * {{ trials }} * {{ trials }})
        )
    ) / (1 + {{ square }} / {{ trials }})))
{%- endmacro %}
