{# One row per line of the inputs. The files are read twice: which line of a task is kept whole depends on who was asked,
   and on whose rollout is the first with a result. #}
{% macro duckdb__staged_inputs() -%}
    {%- set params = "fields['responses_create_params']" -%}
    with

    runs as (
        select * from {{ ref('stg_runs') }}
    ),

    names as (
        select
            runs.run_id,
            {{ duckdb__json_integer('keys._ng_task_index') }} as task_index,
            {{ duckdb__json_integer('keys._ng_rollout_index') }} as rollout_index,
            coalesce(
                json_extract_string(keys._ng_environment_server, '$'),
                json_extract_string(keys.agent_ref, '$.name')
            ) as runner
        from {{ duckdb__read_keys('inputs') }} as keys
        inner join runs on keys.file_path = runs.inputs_file
    ),

    -- one line per task and agent: the first whose result is measured, else the first with a result
    samples as (
        select
            names.run_id,
            names.task_index,
            coalesce(
                min(case when rollouts.is_measured then rollouts.rollout_index end),
                min(rollouts.rollout_index)
            ) as rollout_index
        from names
        inner join {{ ref('stg_rollouts') }} as rollouts using (run_id, task_index, rollout_index)
        where rollouts.is_readable
        group by
            names.run_id,
            names.task_index,
            coalesce(names.runner, rollouts.agent_name)
    ),

    lines as (
        select
            runs.run_id,
            runs.slice_by,
            lines.fields,
            {{ duckdb__json_integer("lines.fields['_ng_task_index']") }} as task_index,
            {{ duckdb__json_integer("lines.fields['_ng_rollout_index']") }} as rollout_index,
            lines.fields['agent_ref'] as agent_ref
        from {{ duckdb__read_rows('inputs') }} as lines
        inner join runs on lines.file_path = runs.inputs_file
    ),

    -- `in` and no join: DuckDB would build its hash table over all lines, with all their fields
    marked as (
        select
            *,
            (lines.run_id, lines.task_index, lines.rollout_index) in (
                select (samples.run_id, samples.task_index, samples.rollout_index) from samples
            ) as is_sample
        from lines
    ),

    inputs as (
        select
            run_id,
            task_index,
            rollout_index,
            json_extract_string(agent_ref, '$.name') as agent_name,
            json_extract_string(fields['_ng_environment_server'], '$') as server_name,
            json_extract_string(fields['_ng_source_task'], '$') as task_name,
            case
                when is_sample
                    then {{ content_hash('map_entries(fields)', duckdb__json_members(params)) }}
            end as task_id,
            case when is_sample then {{ duckdb__prompt(params) }} end as prompt,
            case when is_sample then {{ sample_text('map_entries(fields)') }} end as sample,
            case
                when is_sample
                    then from_json({{ params }}, '{
                        "temperature": "DOUBLE", "top_p": "DOUBLE", "max_output_tokens": "BIGINT",
                        "reasoning": "JSON"
                    }')
            end as params,
            {{ duckdb__slice_values('fields', 'slice_by') }} as slice_values,
            task_index is not null
            and rollout_index is not null
            and not {{ duckdb__has_repeated_name('agent_ref') }} as has_clear_keys
        from marked
    )

    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        server_name,
        task_name,
        task_id,
        prompt,
        sample,
        {{ duckdb__sampling('params', "json_extract_string(params.reasoning, '$.effort')") }} as sampling,
        slice_values,
        has_clear_keys and not {{ duckdb__has_non_finite('sample') }} as is_readable
    from inputs
{%- endmacro %}

{# Whether an object names a field twice. The first look is cheap: hardly any agent_ref holds its name twice. #}
{% macro duckdb__has_repeated_name(json) -%}
    case
        when len(string_split({{ json }}::varchar, '"name"')) > 2
            then coalesce(list_unique(json_keys({{ json }})) != len(json_keys({{ json }})), false)
        else false
    end
{%- endmacro %}

{# Whether a text holds NaN or Infinity as a number. The first look is cheap but may match inside a string; the second
   takes the strings out. #}
{% macro duckdb__has_non_finite(text) -%}
    case
        when regexp_matches({{ text }}, '[:,\[]\s*-?(nan|inf)', 'i')
            then regexp_matches(
                regexp_replace({{ text }}, '"(?:[^"\\]|\\.)*"', '', 'gs'), 'nan|inf', 'i'
            )
        else false
    end
{%- endmacro %}
