{% macro duckdb__staged_verdicts() -%}
    select
        runs.run_id,
        {{ duckdb__json_integer("lines.fields['_ng_task_index']") }} as task_index,
        {{ duckdb__json_integer("lines.fields['_ng_rollout_index']") }} as rollout_index,
        json_extract_string(lines.fields['verdict'], '$') as verdict,
        list_filter(
            json_extract_string(lines.fields['findings'], '$[*].check'),
            lambda name: name is not null
        ) as checks
    from {{ duckdb__read_rows('verdicts') }} as lines
    inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.verdicts_file
{%- endmacro %}
