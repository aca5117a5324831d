with

runs as (
    select * from {{ ref('stg_runs') }}
),

named as (
    select
        run_id,
        'model' as kind,
        substr(model_name, 1, 200) as name
    from {{ ref('stg_rollouts') }}
    union
    select
        run_id,
        'agent' as kind,
        substr(agent_name, 1, 200) as name
    from {{ ref('int_expected_tasks') }}
    union
    select
        run_id,
        'environment' as kind,
        substr(server_name, 1, 200) as name
    from {{ ref('stg_inputs') }}
),

names as (
    select
        run_id,
        {{ text_in_order("case when kind = 'model' then name end", ['name'], ', ') }}
            as model_names,
        {{ text_in_order("case when kind = 'agent' then name end", ['name'], ', ') }}
            as agent_names,
        {{ text_in_order(
            "case when kind = 'environment' then name end", ['name'], ', '
        ) }} as environment_names
    from named
    group by run_id
),

-- without a record of the collection, the responses tell its time
responses as (
    select
        run_id,
        min(created_at) as first_response_at,
        max(created_at) as last_response_at
    from {{ ref('stg_rollouts') }}
    group by run_id
),

identities as (
    select
        runs.run_id,
        coalesce(
            names.model_names,
            nullif({{ list_join('runs.recorded_models', "', '") }}, '')
        ) as model_names,
        names.agent_names,
        coalesce(
            names.environment_names,
            nullif({{ list_join('runs.recorded_environments', "', '") }}, '')
        ) as environment_names,
        sampling.sampling,
        coalesce(runs.started_at, responses.first_response_at) as collection_started_at,
        coalesce(runs.ended_at, responses.last_response_at) as collection_ended_at
    from runs
    left join names using (run_id)
    left join responses using (run_id)
    left join {{ ref('int_run_sampling') }} as sampling using (run_id)
)

select * from identities
