{%- set params = "lines.fields['responses_create_params']" -%}
with

-- a line that is not a JSON object has no fields
lines as (
    select
        file_path,
        fields
    from
        read_json(
            getvariable('spotter_excluded_files'),
            format = 'newline_delimited',
            records = 'false',
            columns = { 'fields': 'MAP(VARCHAR, JSON)' },
            ignore_errors = true,
            allow_empty = true,
            filename = 'file_path',
            maximum_object_size = getvariable('spotter_max_row_bytes')
        )
),

tasks as (
    select
        lines.file_path,
        lines.fields is not null as is_readable,
        case
            when lines.fields is not null
                then {{ content_hash(
                    'map_entries(lines.fields)', duckdb__json_members(params)
                ) }}
        end as task_id,
        {{ duckdb__prompt(params) }} as prompt
    from lines
)

select * from tasks
