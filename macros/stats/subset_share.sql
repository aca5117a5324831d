{# C(part, k) / C(whole, k): the share of all ways to choose k that choose only from the part. #}
{% macro subset_share(part, whole, k) -%}
    case
        when {{ part }} < {{ k }} then 0e0
        when {{ part }} = {{ whole }} then 1e0
        else exp(
            {{ log_factorial(part) }} - {{ log_factorial(part ~ ' - ' ~ k) }}
            - {{ log_factorial(whole) }} + {{ log_factorial(whole ~ ' - ' ~ k) }}
        )
    end
{%- endmacro %}
