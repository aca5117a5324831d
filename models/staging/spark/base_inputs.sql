-- the keys alone: much faster than reading all fields
with

lines as (
    select
        file_path,
        inline(array(from_json(
            line,
            '_ng_task_index string, _ng_rollout_index string, _ng_environment_server string,
            agent_ref string',
            {{ spark__json_options() }}
        )))
    from {{ spark__read_lines('inputs') }}
),

keyed as (
    select
        *,
        map_keys(from_json(agent_ref, 'map<string, string>')) as agent_ref_keys
    from lines
),

inputs as (
    select
        runs.run_id,
        {{ spark__json_integer('keyed._ng_task_index') }} as task_index,
        {{ spark__json_integer('keyed._ng_rollout_index') }} as rollout_index,
        get_json_object(keyed.agent_ref, '$.name') as agent_name,
        keyed._ng_environment_server as server_name,
        coalesce(
            keyed.agent_ref like '%"name"%"name"%'
            and array_size(array_distinct(keyed.agent_ref_keys))
            != array_size(keyed.agent_ref_keys),
            false
        ) as has_repeated_name
    from keyed
    inner join {{ ref('stg_runs') }} as runs on keyed.file_path = runs.inputs_file
)

select * from inputs
