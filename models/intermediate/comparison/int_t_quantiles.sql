{%- set steps = 6 -%}
with

-- the degrees of freedom that any interval of a comparison needs
needed as (
    select
        pairs.alpha,
        cast(groups.task_count - 1 as double) as degrees
    from {{ ref('int_slice_differences') }} as groups
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    union
    select
        pairs.alpha,
        cast(clusters.cluster_count - 1 as double) as degrees
    from {{ ref('int_cluster_errors') }} as clusters
    inner join {{ ref('int_slice_differences') }} as groups using (group_key)
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    union
    select
        pairs.alpha,
        cast(bounds.task_count - 1 as double) as degrees
    from {{ ref('int_slice_bounds') }} as bounds
    inner join {{ ref('int_slice_differences') }} as groups using (group_key)
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    union
    select
        pairs.alpha,
        cast(efforts.task_count - 1 as double) as degrees
    from {{ ref('int_effort_groups') }} as efforts
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    union
    select
        alpha,
        degrees
    from {{ ref('int_gym_intervals') }}
),

quantile_0 as (
    select
        alpha,
        degrees,
        {{ upper_normal_quantile('(alpha / 2)') }} as quantile
    from needed
    where degrees >= 1
),

-- Newton's steps on the logarithms of the tail and of the quantile
{% for step in range(1, steps + 1) %}
tail_{{ step }} as (
    select
        quantiles.alpha,
        quantiles.degrees,
        quantiles.quantile,
        {{ sum_in_order(
            t_tail_term('quantiles.quantile', 'quantiles.degrees', 'nodes.place', 'nodes.weight'), ['nodes.node']
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
            ln(tail / alpha) * tail / (quantile * {{ t_tail_slope('quantile', 'degrees') }})
        ) as quantile
    from tail_{{ step }}
){{ ',' if not loop.last }}
{% endfor %}

select * from quantile_{{ steps }}
