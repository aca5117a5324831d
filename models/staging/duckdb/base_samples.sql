with

runs as (
    select * from {{ ref('stg_runs') }}
),

sample_keys as (
    select (run_id, task_index, rollout_index) as sample_key
    from {{ ref('base_sample_keys') }}
),

lines as (
    select
        runs.run_id,
        runs.slice_by,
        lines.fields,
        {{ duckdb__json_integer("lines.fields['_ng_task_index']") }} as task_index,
        {{ duckdb__json_integer("lines.fields['_ng_rollout_index']") }}
            as rollout_index
    from
        read_json(
            getvariable('spotter_inputs_files'),
            format = 'newline_delimited',
            records = 'false',
            columns = { 'fields': 'MAP(VARCHAR, JSON)' },
            ignore_errors = true,
            allow_empty = true,
            filename = 'file_path',
            maximum_object_size = getvariable('spotter_max_row_bytes')
        ) as lines
    inner join runs on lines.file_path = runs.inputs_file
),

-- `in` and no join: DuckDB would build its hash table over all lines, with all their
-- fields. Lines without a key stay: they cannot be read.
kept as (
    select
        *,
        fields['responses_create_params'] as params,
        from_json(params, '{
            "temperature": "DOUBLE", "top_p": "DOUBLE",
            "max_output_tokens": "BIGINT", "reasoning": "JSON"
        }') as sampling_params,
        ':' || array_to_string(map_values(fields), ',') as text
    from lines
    where task_index is null
        or rollout_index is null
        or (run_id, task_index, rollout_index) in (
            select sample_keys.sample_key from sample_keys
        )
),

samples as (
    select
        run_id,
        task_index,
        rollout_index,
        json_extract_string(fields['_ng_source_task'], '$') as task_name,
        map_entries(fields) as input_fields,
        {{ duckdb__json_members('params') }} as param_fields,
        {{ duckdb__prompt('params') }} as prompt,
        {{ duckdb__sampling('sampling_params') }} as sampling,
        {{ duckdb__slice_values('fields', 'slice_by') }} as slice_values,
        -- NaN or Infinity as a number: the first look may match inside a string, the
        -- second takes the strings out. Not `and`, which would do both everywhere.
        coalesce(
            case
                when regexp_matches(text, '[:,\[]\s*-?(nan|inf)', 'i')
                    then regexp_matches(
                            regexp_replace(text, '"(?:[^"\\]|\\.)*"', '', 'gs'),
                            'nan|inf',
                            'i'
                        )
            end,
            false
        ) as has_non_finite
    from kept
)

select * from samples
