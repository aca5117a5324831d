with

-- how far from 0 the difference is, in standard errors of both kinds
distances as (
    select
        *,
        cast(unit_count - 1 as double) as degrees,
        case
            when unit_count > 1 and task_std_error > 0
                then abs(difference) / task_std_error
        end as t_distance,
        case when fixed_std_error > 0 then abs(difference) / fixed_std_error end
            as z_distance,
        least(abs(difference), value_range) as distance
    from {{ ref('int_difference_intervals') }}
),

scaled as (
    select
        *,
        {{ t_scale('degrees') }} as scale,
        {{ t_tail_angle('t_distance', 'degrees') }} as angle,
        {{ t_tail_start('angle', 'degrees') }} as start
    from distances
),

-- the tails of both distributions, by quadrature
tails as (
    select
        scaled.pair_key,
        scaled.score,
        scaled.slice_by,
        scaled.slice_value,
        {{ sum_in_order(
            t_tail_term(
                'scaled.degrees', 'scaled.scale', 'scaled.angle', 'scaled.start',
                'nodes.place', 'nodes.weight'
            ),
            ['nodes.node']
        ) }} as t_tail,
        {{ sum_in_order(
            normal_tail_term('scaled.z_distance', 'nodes.place', 'nodes.weight'),
            ['nodes.node']
        ) }} as z_tail
    from scaled
    cross join {{ ref('quadrature_nodes') }} as nodes
    group by
        scaled.pair_key,
        scaled.score,
        scaled.slice_by,
        scaled.slice_value
),

-- rollouts that all agree within their tasks: the alpha whose interval would end at 0
p_values as (
    select
        pair_key,
        score,
        slice_by,
        slice_value,
        case when distances.t_distance is not null then least(1e0, tails.t_tail) end
            as t_p_value,
        case
            when distances.z_distance is not null then least(1e0, tails.z_tail)
            when distances.fixed_std_error = 0 then least(
                    1e0,
                    2
                    * power(
                        1 - distances.distance / distances.value_range,
                        distances.smaller_rollout_count
                    )
                )
        end as fixed_p_value
    from distances
    inner join tails using (pair_key, score, slice_by, slice_value)
)

select * from p_values
