{%- set steps = 6 -%}
with

quantile_0 as (
    select
        alpha,
        degrees,
        {{ upper_normal_quantile('(alpha / 2)') }} as quantile
    from {{ ref('int_needed_quantiles') }}
),

-- Newton's steps on the logarithms of the tail and of the quantile
{% for step in range(1, steps + 1) %}
    tail_{{ step }} as (
        select
            quantiles.alpha,
            quantiles.degrees,
            quantiles.quantile,
        {{ sum_in_order(
            t_tail_term(
                'quantiles.quantile', 'quantiles.degrees', 'nodes.place', 'nodes.weight'
            ),
            ['nodes.node']
        ) }} as tail
        from quantile_{{ step - 1 }} as quantiles
        cross join {{ ref('quadrature_nodes') }} as nodes
        group by
            quantiles.alpha,
            quantiles.degrees,
            quantiles.quantile
    ),

    quantile_{{ step }} as (
        select
            alpha,
            degrees,
            quantile * exp(
                ln(tail / alpha)
                * tail
                / (quantile * {{ t_tail_slope('quantile', 'degrees') }})
            ) as quantile
        from tail_{{ step }}
    ){{ ',' if not loop.last }}
{% endfor %}

select * from quantile_{{ steps }}
