-- the recipe in the var `curate`, an object with these fields; nothing without a run to
-- choose from
{%- set recipe = var('curate') or {} -%}
{%- set declared = tojson([recipe] if recipe.get('run_id') else []) %}
with

recipes as (
    select inline(from_json(
        {{ spark__text_literal(declared) }},
        'array<struct<
            run_id string, agent_name string, since_run_id string,
            pass_low double, pass_high double,
            decided_on string, undecided string, outcome string,
            drops_masked boolean, drops_unhealthy boolean,
            drops_truncated boolean, drops_zero_variance boolean,
            slice_by string, slice_at_most bigint,
            target string, target_mean double, target_std double,
            task_order string, steps bigint, prompts_per_step bigint,
            mean_from double, mean_to double, spread double,
            at_most bigint, seed bigint, budget_rollouts bigint, budget_tokens double,
            shares array<struct<kind string, name string, share double>>
        >>'
    ))
)

select * from recipes
