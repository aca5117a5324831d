-- the keys alone: typed columns are read twice as fast as all fields
with

lines as (
    select
        file_path,
        _ng_task_index,
        _ng_rollout_index,
        _ng_environment_server,
        agent_ref
    from
        read_json(
            getvariable('spotter_inputs_files'),
            format = 'newline_delimited',
            columns = {
                '_ng_task_index': 'JSON',
                '_ng_rollout_index': 'JSON',
                '_ng_environment_server': 'JSON',
                'agent_ref': 'JSON'
            },
            ignore_errors = true,
            allow_empty = true,
            filename = 'file_path',
            maximum_object_size = getvariable('spotter_max_row_bytes')
        )
),

inputs as (
    select
        runs.run_id,
        {{ duckdb__json_integer('lines._ng_task_index') }} as task_index,
        {{ duckdb__json_integer('lines._ng_rollout_index') }} as rollout_index,
        json_extract_string(lines.agent_ref, '$.name') as agent_name,
        json_extract_string(lines._ng_environment_server, '$') as server_name,
        -- the first look is cheap: hardly any agent_ref holds its name twice
        coalesce(
            case
                when len(string_split(lines.agent_ref::varchar, '"name"')) > 2
                    then list_unique(json_keys(lines.agent_ref))
                        != len(json_keys(lines.agent_ref))
            end,
            false
        ) as has_repeated_name
    from lines
    inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.inputs_file
)

select * from inputs
