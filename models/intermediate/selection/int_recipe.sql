-- depends_on: {{ ref('int_rollouts_keyed') }}
-- so that dbt builds it after the batch is staged, which drops the intermediate models
with

declared as (
    {{ declared_recipe() }}
),

recipe as (
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
        {{ list_length(list_where('shares', 'part', "part.kind = 'slice'")) }} > 0
            as has_slice_shares,
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
        budget_tokens,
        shares
    from declared
)

select * from recipe
