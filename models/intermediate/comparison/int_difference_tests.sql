with

intervals as (
    select * from {{ ref('int_difference_intervals') }}
),

-- the tails of both distributions, by quadrature
tails as (
    select
        intervals.group_key,
        case
            when intervals.task_std_error > 0 and intervals.degrees > 0
                then {{ sum_in_order(t_tail_term(
                    '(abs(intervals.difference) / intervals.task_std_error)',
                    'intervals.degrees', 'nodes.place', 'nodes.weight'
                ), ['nodes.node']) }}
        end as t_p_value,
        case
            when intervals.fixed_std_error > 0
                then {{ sum_in_order(normal_tail_term(
                    '(abs(intervals.difference) / intervals.fixed_std_error)',
                    'nodes.place', 'nodes.weight'
                ), ['nodes.node']) }}
        end as fixed_p_value
    from intervals
    cross join {{ ref('quadrature_nodes') }} as nodes
    group by
        intervals.group_key,
        intervals.task_std_error,
        intervals.fixed_std_error,
        intervals.degrees
),

tests as (
    select
        intervals.group_key,
        case
            when intervals.interval_method is null then null
            when intervals.interval_method = 'cluster' then 't'
            when intervals.interval_method = 'newcombe' then 'mcnemar'
            when intervals.task_count < 30 then 'permutation'
            when intervals.interval_method = 'no_spread' then 'sign'
            else 't'
        end as test,
        case when tails.t_p_value < 1 then tails.t_p_value else tails.t_p_value * 0 + 1 end
            as t_p_value,
        case
            when tails.fixed_p_value < 1 then tails.fixed_p_value
            else tails.fixed_p_value * 0 + 1
        end as fixed_p_value,
        mcnemar.p_value as mcnemar_p_value,
        mcnemar.mid_p_value,
        permutations.p_value as permutation_p_value,
        -- the chance that as many fair coins all fall alike
        case
            when intervals.difference = 0 then 1e0
            else power(2e0, 1 - intervals.task_count)
        end as sign_p_value
    from intervals
    left join tails using (group_key)
    left join {{ ref('int_mcnemar_tests') }} as mcnemar using (group_key)
    left join {{ ref('int_permutation_tests') }} as permutations using (group_key)
)

select
    *,
    case test
        when 't' then t_p_value
        when 'mcnemar' then mcnemar_p_value
        when 'permutation' then permutation_p_value
        when 'sign' then sign_p_value
    end as p_value
from tests
