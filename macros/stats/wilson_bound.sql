{# A bound of the Wilson 95 % interval for a number of passes in a number of trials; sign is '-' or '+'. #}
{% macro wilson_bound(passes, trials, sign) -%}
    {%- set z = normal_quantile() -%}
    {%- set share = '(1.0 * ' ~ passes ~ ' / ' ~ trials ~ ')' -%}
    case when {{ trials }} > 0 then least(1.0, greatest(0.0, (
        {{ share }} + {{ z * z / 2 }} / {{ trials }}
        {{ sign }} {{ z }} * sqrt(
            {{ share }} * (1 - {{ share }}) / {{ trials }} + {{ z * z / 4 }} / ({{ trials }} * {{ trials }})
        )
    ) / (1 + {{ z * z }} / {{ trials }}))) end
{%- endmacro %}
