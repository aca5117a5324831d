{# The tasks of the files that a recipe excludes, one row per line. A line that is not a JSON object has nulls. #}
{% macro duckdb__excluded_tasks() -%}
    {%- set params = "lines.fields['responses_create_params']" -%}
    select
        lines.file_path,
        lines.fields is not null as is_readable,
        case
            when lines.fields is not null
                then {{ content_hash('map_entries(lines.fields)', duckdb__json_members(params)) }}
        end as task_id,
        {{ duckdb__prompt(params) }} as prompt
    from {{ duckdb__read_rows('excluded') }} as lines
{%- endmacro %}
