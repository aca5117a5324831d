with

lines as (
    select
        file_path,
        fields
    from
        read_json(
            getvariable('spotter_failures_files'),
            format = 'newline_delimited',
            records = 'false',
            columns = { 'fields': 'MAP(VARCHAR, JSON)' },
            ignore_errors = true,
            allow_empty = true,
            filename = 'file_path',
            maximum_object_size = getvariable('spotter_max_row_bytes')
        )
),

failures as (
    select
        runs.run_id,
        {{ duckdb__json_integer("lines.fields['_ng_task_index']") }} as task_index,
        {{ duckdb__json_integer("lines.fields['_ng_rollout_index']") }}
            as rollout_index,
        json_extract_string(lines.fields['agent_ref'], '$.name') as agent_name,
        nullif(json_extract_string(lines.fields['_ng_failure_class'], '$'), '')
            as given_class,
        {{ duckdb__json_integer("lines.fields['_ng_failure_status']") }} as http_status,
        lines.fields['_ng_failure_terminal']::varchar as is_terminal,
        {{ duckdb__json_integer("lines.fields['_ng_attempt_index']") }} as attempt,
        lines.fields['reward']::varchar as reward
    from lines
    inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.failures_file
)

select * from failures
