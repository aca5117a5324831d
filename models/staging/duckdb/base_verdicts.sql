with

lines as (
    select
        file_path,
        fields,
        list_transform(
            json_extract_string(fields['findings'], '$[*].check'),
            lambda name: { 'check_name': name }
        ) as checks
    from
        read_json(
            getvariable('spotter_verdicts_files'),
            format = 'newline_delimited',
            records = 'false',
            columns = { 'fields': 'MAP(VARCHAR, JSON)' },
            ignore_errors = true,
            allow_empty = true,
            filename = 'file_path',
            maximum_object_size = getvariable('spotter_max_row_bytes')
        )
),

verdicts as (
    select
        runs.run_id,
        {{ duckdb__json_integer("lines.fields['_ng_task_index']") }} as task_index,
        {{ duckdb__json_integer("lines.fields['_ng_rollout_index']") }}
            as rollout_index,
        json_extract_string(lines.fields['verdict'], '$') as verdict,
        lines.checks
    from lines
    inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.verdicts_file
)

select * from verdicts
