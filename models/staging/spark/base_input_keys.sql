-- much faster than reading all fields
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

keys as (
    select
        runs.run_id,
        {{ spark__json_integer('lines._ng_task_index') }} as task_index,
        {{ spark__json_integer('lines._ng_rollout_index') }} as rollout_index,
        coalesce(
            lines._ng_environment_server, get_json_object(lines.agent_ref, '$.name')
        ) as runner
    from lines
    inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.inputs_file
)

select * from keys
