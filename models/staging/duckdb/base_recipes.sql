-- as declare_recipe or `spotter curate` set it: JSON, so that its fields are named here
-- and nowhere else
with

recipes as (
    select unnest(from_json(getvariable('spotter_recipe'), '[{
            "run_id": "VARCHAR", "agent_name": "VARCHAR", "since_run_id": "VARCHAR",
            "pass_low": "DOUBLE", "pass_high": "DOUBLE",
            "decided_on": "VARCHAR", "undecided": "VARCHAR", "outcome": "VARCHAR",
            "drops_masked": "BOOLEAN", "drops_unhealthy": "BOOLEAN",
            "drops_truncated": "BOOLEAN", "drops_zero_variance": "BOOLEAN",
            "slice_by": "VARCHAR", "slice_at_most": "BIGINT",
            "target": "VARCHAR", "target_mean": "DOUBLE", "target_std": "DOUBLE",
            "task_order": "VARCHAR", "steps": "BIGINT", "prompts_per_step": "BIGINT",
            "mean_from": "DOUBLE", "mean_to": "DOUBLE", "spread": "DOUBLE",
            "at_most": "BIGINT", "seed": "BIGINT",
            "budget_rollouts": "BIGINT", "budget_tokens": "DOUBLE",
            "shares": [{"kind": "VARCHAR", "name": "VARCHAR", "share": "DOUBLE"}]
        }]'), max_depth := 2)
)

select * from recipes
