with

recipes as (
    select
        run_id,
        agent_name,
        since_run_id,
        pass_low as lowest_pass_ratio,
        pass_high as highest_pass_ratio,
        coalesce(decided_on, 'interval') as decided_on,
        coalesce(undecided, 'keep') as undecided,
        coalesce(outcome, 'pass') as outcome,
        coalesce(drops_masked, false) as drops_masked,
        coalesce(drops_unhealthy, false) as drops_unhealthy,
        coalesce(drops_truncated, false) as drops_truncated,
        coalesce(drops_zero_variance, false) as drops_zero_variance,
        slice_by,
        slice_at_most,
        target,
        target_mean,
        target_std,
        coalesce(task_order, 'as_input') as task_order,
        steps,
        prompts_per_step,
        mean_from,
        mean_to,
        spread,
        at_most,
        coalesce(seed, 1) as seed,
        budget_rollouts,
        budget_tokens
    from {{ ref('base_recipes') }}
)

select * from recipes
