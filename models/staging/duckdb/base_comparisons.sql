-- the pairs to compare: as `spotter compare` declares them, else those of the vars
with

declared as (
    select unnest(coalesce(
        getvariable('spotter_comparisons'),
        from_json(
            {{ duckdb__text_literal(tojson(compared_pairs())) }},
            '[{
                "baseline_run_id": "VARCHAR", "baseline_agent_name": "VARCHAR",
                "candidate_run_id": "VARCHAR", "candidate_agent_name": "VARCHAR",
                "alpha": "DOUBLE", "margin": "DOUBLE", "cluster_by": "VARCHAR",
                "is_fixed_suite": "BOOLEAN"
            }]'
        )
    )) as pair
),

comparisons as (
    select pair.* from declared
)

select * from comparisons
