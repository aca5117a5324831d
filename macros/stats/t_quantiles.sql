{# Common table expressions, the last one `quantiles`: the quantile 1 - alpha / 2 of Student's t for each alpha and number of
   degrees of freedom in a relation, which has the quantile z of the normal distribution too. Newton's steps on the
   logarithms of the tail and of the quantile begin there. #}
{% macro t_quantiles(needed) -%}
    {%- set steps = 6 -%}
    quantiles_0 as (
        select distinct
            alpha,
            cast(degrees as double) as degrees,
            {{ t_scale('cast(degrees as double)') }} as scale,
            z as quantile
        from {{ needed }}
        where degrees > 0
    ),
    {% for step in range(1, steps + 1) %}
    angles_{{ step }} as (
        select
            *,
            {{ t_tail_angle('quantile', 'degrees') }} as angle,
            {{ t_tail_start('angle', 'degrees') }} as start
        from quantiles_{{ step - 1 }}
    ),

    tails_{{ step }} as (
        select
            alpha,
            degrees,
            scale,
            quantile,
            {{ sum_in_order(t_tail_term('degrees', 'scale', 'angle', 'start', 'place', 'weight'), ['node']) }} as tail
        from angles_{{ step }}
        cross join {{ ref('quadrature_nodes') }}
        group by
            alpha,
            degrees,
            scale,
            quantile
    ),

    quantiles{{ '_' ~ step if step < steps }} as (
        select
            alpha,
            degrees,
            scale,
            quantile * exp(
                ln(tail / alpha) * tail / (quantile * {{ t_tail_slope('quantile', 'degrees', 'scale') }})
            ) as quantile
        from tails_{{ step }}
    )
    {%- if not loop.last %},
    {% endif %}
    {%- endfor %}
{%- endmacro %}
