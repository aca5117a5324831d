with

-- how far from 0 the difference is, in standard errors of both kinds
distances as (
    select
        group_key,
        cast(unit_count - 1 as double) as degrees,
        case
            when
                unit_count > 1 and task_std_error > 0
                then abs(difference) / task_std_error
        end
            as t,
        case when fixed_std_error > 0 then abs(difference) / fixed_std_error end as z,
        value_range,
        least(abs(difference), value_range) as distance,
        smaller_rollout_count,
        fixed_std_error
    from {{ ref('int_difference_errors') }}
),

-- the tails of both distributions, by quadrature
tails as (
    select
        distances.group_key,
        {{ sum_in_order(
            t_tail_term(
                'distances.t', 'distances.degrees', 'nodes.place', 'nodes.weight'
            ),
            ['nodes.node']
        ) }} as t_tail,
        {{ sum_in_order(
            normal_tail_term('distances.z', 'nodes.place', 'nodes.weight'),
            ['nodes.node']
        ) }} as z_tail
    from distances
    cross join {{ ref('quadrature_nodes') }} as nodes
    group by distances.group_key
),

-- rollouts that all agree within their tasks: the alpha whose interval would end at 0
tests as (
    select
        distances.group_key,
        case when distances.t is not null then least(1e0, tails.t_tail) end
            as t_p_value,
        case
            when distances.z is not null then least(1e0, tails.z_tail)
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
    inner join tails using (group_key)
)

select * from tests
