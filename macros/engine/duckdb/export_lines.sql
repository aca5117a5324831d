{# JSON has no line ends and no character 1, so nothing in a line needs quotes. #}
{% macro duckdb__export_lines(relation, run_id, folder) %}
    {{- duckdb__make_folders(folder) }}
    copy (
        select line
        from {{ relation }}
        where run_id = {{ duckdb__text_literal(run_id) }}
        order by task_index, agent_name
    ) to {{ duckdb__text_literal(folder ~ '/part-0.jsonl') }} (format csv, header false, quote '', escape '', delimiter '\x01')
{% endmacro %}
