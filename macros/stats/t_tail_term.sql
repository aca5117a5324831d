{# A term of the quadrature that gives the two-sided tail of Student's t: the sum over `quadrature_nodes` is the chance of
   a value at least as far from 0 as t. It integrates sin(φ)^(degrees - 1) from `start` to `angle`, times `scale`. These are
   columns, made by the macros below: written out in each term, they take an engine long to plan. #}
{% macro t_tail_term(degrees, scale, angle, start, place, weight) -%}
    {{ scale }} * {{ weight }} * ({{ angle }} - {{ start }})
    * power(sin({{ start }} + ({{ angle }} - {{ start }}) * {{ place }}), {{ degrees }} - 1)
{%- endmacro %}

{% macro t_tail_angle(t, degrees) -%}
    atan2(sqrt(1e0 * {{ degrees }}), {{ t }})
{%- endmacro %}

{# The part that contributes less than 1e-18 of the whole is cut off, so that the nodes lie where the integrand is. #}
{% macro t_tail_start(angle, degrees) -%}
    asin(sin({{ angle }}) * power(1e1, -18e0 / {{ degrees }}))
{%- endmacro %}

{# 2 Γ((degrees + 1) / 2) / (√π Γ(degrees / 2)): for many degrees of freedom by its expansion, since the difference of two
   large logarithms would lose digits. #}
{% macro t_scale(degrees) -%}
    case
        when {{ degrees }} > 1000 then sqrt({{ degrees }} * 2e0 / pi()) * (
            1 - 1e0 / (4 * {{ degrees }}) + 1e0 / (32e0 * {{ degrees }} * {{ degrees }})
            + 5e0 / (128e0 * {{ degrees }} * {{ degrees }} * {{ degrees }})
        )
        else 2e0 / sqrt(pi()) * exp(
            {{ log_factorial('((' ~ degrees ~ ' - 1) / 2e0)') }} - {{ log_factorial('(' ~ degrees ~ ' / 2e0 - 1)') }}
        )
    end
{%- endmacro %}

{# The density of Student's t, twice: how fast the two-sided tail falls. #}
{% macro t_tail_slope(t, degrees, scale) -%}
    {{ scale }} / sqrt(1e0 * {{ degrees }})
    * power(1 + {{ t }} * {{ t }} / {{ degrees }}, -({{ degrees }} + 1) / 2e0)
{%- endmacro %}
