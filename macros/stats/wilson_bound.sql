{# A bound of the Wilson 95 % interval for a number of passes in a number of trials; sign is '-' or '+'. #}
{% macro wilson_bound(passes, trials, sign) -%}
    case
        when {{ trials }} > 0
            then {{ wilson_limit('(1e0 * ' ~ passes ~ ' / ' ~ trials ~ ')', trials, normal_quantile() ~ 'e0', sign) }}
    end
{%- endmacro %}
