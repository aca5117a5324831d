with

runs as (
    select * from {{ ref('stg_runs') }}
),

lines as (
    select
        runs.run_id,
        runs.slice_by,
        lines.fields,
        {{ duckdb__json_integer("lines.fields['_ng_task_index']") }} as task_index,
        {{ duckdb__json_integer("lines.fields['_ng_rollout_index']") }}
            as rollout_index,
        lines.fields['agent_ref'] as agent_ref,
        lines.fields['responses_create_params'] as params
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
-- fields
marked as (
    select
        *,
        (lines.run_id, lines.task_index, lines.rollout_index) in (
            select (samples.run_id, samples.task_index, samples.rollout_index)
            from {{ ref('base_samples') }} as samples
        ) as is_sample
    from lines
),

-- the rest is read of the samples only
samples as (
    select
        *,
        case when is_sample then map_entries(fields) end as input_fields,
        case when is_sample then {{ duckdb__json_members('params') }} end
            as param_fields,
        case when is_sample then {{ duckdb__prompt('params') }} end as prompt,
        case
            when is_sample
                then from_json(params, '{
                    "temperature": "DOUBLE", "top_p": "DOUBLE",
                    "max_output_tokens": "BIGINT", "reasoning": "JSON"
                }')
        end as sampling_params,
        case
            when is_sample
                then ':' || array_to_string(map_values(fields), ',')
        end as text
    from marked
),

inputs as (
    select
        run_id,
        task_index,
        rollout_index,
        json_extract_string(agent_ref, '$.name') as agent_name,
        json_extract_string(fields['_ng_environment_server'], '$') as server_name,
        json_extract_string(fields['_ng_source_task'], '$') as task_name,
        is_sample,
        input_fields,
        param_fields,
        prompt,
        {{ duckdb__sampling('sampling_params') }} as sampling,
        {{ duckdb__slice_values('fields', 'slice_by') }} as slice_values,
        -- the first look is cheap: hardly any agent_ref holds its name twice
        coalesce(
            len(string_split(agent_ref::varchar, '"name"')) > 2
            and list_unique(json_keys(agent_ref)) != len(json_keys(agent_ref)),
            false
        ) as has_repeated_name,
        -- NaN or Infinity as a number: the first look may match inside a string, the
        -- second takes the strings out
        coalesce(
            regexp_matches(text, '[:,\[]\s*-?(nan|inf)', 'i')
            and regexp_matches(
                regexp_replace(text, '"(?:[^"\\]|\\.)*"', '', 'gs'), 'nan|inf', 'i'
            ),
            false
        ) as has_non_finite
    from samples
)

select * from inputs
