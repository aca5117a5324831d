{# The 97.5 % quantile of Student's t: from the seed, and beyond it from the expansion around the normal quantile. #}
{% macro t_quantile(found, degrees) -%}
    {%- set z = normal_quantile() -%}
    coalesce(
        {{ found }},
        {{ z }}e0 + {{ (z ** 3 + z) / 4 }}e0 / {{ degrees }}
        + {{ (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96 }}e0 / power({{ degrees }}, 2)
        + {{ (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384 }}e0 / power({{ degrees }}, 3)
        + {{ (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160 }}e0
        / power({{ degrees }}, 4)
    )
{%- endmacro %}
