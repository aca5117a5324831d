with

failures as (
    select
        runs.run_id,
        {{ spark__json_integer("lines.fields['_ng_task_index']") }} as task_index,
        {{ spark__json_integer("lines.fields['_ng_rollout_index']") }} as rollout_index,
        get_json_object(lines.fields['agent_ref'], '$.name') as agent_name,
        nullif(lines.texts['_ng_failure_class'], '') as given_class,
        {{ spark__json_integer("lines.fields['_ng_failure_status']") }} as http_status,
        lines.fields['_ng_failure_terminal'] as is_terminal,
        {{ spark__json_integer("lines.fields['_ng_attempt_index']") }} as attempt,
        lines.fields['reward'] as reward
    from {{ spark__read_rows('failures') }} as lines
    inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.failures_file
)

select * from failures
