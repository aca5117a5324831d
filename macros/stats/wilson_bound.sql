{# A bound of the Wilson 95 % interval for a number of passes in a number of trials; sign is '-' or '+'. #}
{% macro wilson_bound(passes, trials, sign) -%}
    {%- set z = normal_quantile() -%}
    {%- set share = '(1e0 * ' ~ passes ~ ' / ' ~ trials ~ ')' -%}
    case when {{ trials }} > 0 then least(1e0, greatest(0e0, (
        {{ share }} + {{ z * z / 2 }}e0 / {{ trials }}
        {{ sign }} {{ z }}e0 * sqrt(
            {{ share }} * (1 - {{ share }}) / {{ trials }} + {{ z * z / 4 }}e0 / ({{ trials }} * {{ trials }})
        )
    ) / (1 + {{ z * z }}e0 / {{ trials }}))) end
{%- endmacro %}
