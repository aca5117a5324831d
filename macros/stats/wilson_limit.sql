{# A bound of Wilson's score interval of a share: the quantile may be Student's, the number of trials need not be whole;
   sign is '-' or '+'. The share lies in its interval, whatever rounding makes of the bound. #}
{% macro wilson_limit(share, trials, quantile, sign) -%}
    {%- set square = quantile ~ ' * ' ~ quantile -%}
    {{ 'least' if sign == '-' else 'greatest' }}({{ share }}, least(1e0, greatest(0e0, (
        {{ share }} + {{ square }} / (2 * {{ trials }})
        {{ sign }} {{ quantile }} * sqrt(
            {{ share }} * (1 - {{ share }}) / {{ trials }} + {{ square }} / (4e0 * {{ trials }} * {{ trials }})
        )
    ) / (1 + {{ square }} / {{ trials }}))))
{%- endmacro %}
