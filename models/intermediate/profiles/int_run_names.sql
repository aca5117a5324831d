with

named as (
    select
        run_id,
        'model' as kind,
        model_name as name
    from {{ ref('stg_rollouts') }}
    union
    select
        run_id,
        'agent' as kind,
        agent_name as name
    from {{ ref('int_expected_tasks') }}
    union
    select
        run_id,
        'environment' as kind,
        server_name as name
    from {{ ref('stg_inputs') }}
),

listed as (
    select
        run_id,
        kind,
        {{ list_join(values_in_order('substr(name, 1, 200)', ['name']), "', '") }}
            as names
    from named
    where name is not null
    group by
        run_id,
        kind
),

names as (
    select
        run_id,
        max(case when kind = 'model' then names end) as model_names,
        max(case when kind = 'agent' then names end) as agent_names,
        max(case when kind = 'environment' then names end) as environment_names
    from listed
    group by run_id
)

select * from names
