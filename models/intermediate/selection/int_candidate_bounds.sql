-- what the rules look at: bounds of the pass rate, and whether all outcomes are equal
with

candidates as (
    select
        candidates.*,
        recipe.lowest_pass_ratio,
        recipe.highest_pass_ratio,
        md5(concat_ws('-', recipe.seed, candidates.task_id, candidates.task_index))
            as draw,
        case
            when recipe.decided_on = 'point' then candidates.pass_ratio
            else candidates.pass_low
        end as lower_bound,
        case
            when recipe.decided_on = 'point' then candidates.pass_ratio
            else candidates.pass_high
        end as upper_bound,
        case
            when recipe.outcome = 'reward' then candidates.is_zero_variance
            else candidates.is_zero_outcome_variance
        end as is_flat
    from {{ ref('int_run_candidates') }} as candidates
    cross join {{ ref('int_recipe') }} as recipe
),

-- without a result there are no bounds
bounded as (
    select
        *,
        coalesce(upper_bound < lowest_pass_ratio, false) as is_too_hard,
        coalesce(lower_bound > highest_pass_ratio, false) as is_too_easy,
        lowest_pass_ratio is null
        or coalesce(
            lower_bound >= lowest_pass_ratio and upper_bound <= highest_pass_ratio,
            false
        ) as is_within_bounds
    from candidates
)

select * from bounded
