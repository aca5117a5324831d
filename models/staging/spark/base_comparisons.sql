-- the pairs to compare, as the vars name them
with

comparisons as (
    select inline(from_json(
        {{ spark__text_literal(tojson(compared_pairs())) }},
        'array<struct<
            baseline_run_id string, baseline_agent_name string,
            candidate_run_id string, candidate_agent_name string,
            alpha double, margin double, cluster_by string, is_fixed_suite boolean
        >>'
    ))
)

select * from comparisons
