{# A term of the quadrature that gives the two-sided tail of Student's t: the sum over `quadrature_nodes` is the chance of
   a value at least as far from 0 as t. With φ = atan(√degrees / t) it integrates sin(φ)^(degrees - 1) from 0; the part
   that contributes less than 1e-18 of the whole is cut off, so that the nodes lie where the integrand is. #}
{% macro t_tail_term(t, degrees, place, weight) -%}
    {%- set angle = 'atan2(sqrt(1e0 * ' ~ degrees ~ '), ' ~ t ~ ')' -%}
    {%- set start = 'asin(sin(' ~ angle ~ ') * power(1e1, -18e0 / ' ~ degrees ~ '))' -%}
    {{ t_scale(degrees) }} * {{ weight }} * ({{ angle }} - {{ start }})
    * power(sin({{ start }} + ({{ angle }} - {{ start }}) * {{ place }}), {{ degrees }} - 1)
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
{% macro t_tail_slope(t, degrees) -%}
    {{ t_scale(degrees) }} / sqrt(1e0 * {{ degrees }})
    * power(1 + {{ t }} * {{ t }} / {{ degrees }}, -({{ degrees }} + 1) / 2e0)
{%- endmacro %}
