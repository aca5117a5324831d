{% macro duckdb__staged_failures() -%}
    select
        runs.run_id,
        {{ duckdb__json_integer("lines.fields['_ng_task_index']") }} as task_index,
        {{ duckdb__json_integer("lines.fields['_ng_rollout_index']") }} as rollout_index,
        json_extract_string(lines.fields['agent_ref'], '$.name') as agent_name,
        nullif(json_extract_string(lines.fields['_ng_failure_class'], '$'), '') as given_class,
        {{ duckdb__json_integer("lines.fields['_ng_failure_status']") }} as http_status,
        coalesce({{ duckdb__json_number("lines.fields['_ng_failure_terminal']") }} = 1, false)
            as is_terminal,
        coalesce({{ duckdb__json_integer("lines.fields['_ng_attempt_index']") }}, 0) as attempt,
        {{ finite(duckdb__json_number("lines.fields['reward']")) }} as reward
    from {{ duckdb__read_rows('failures') }} as lines
    inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.failures_file
{%- endmacro %}
