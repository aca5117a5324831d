{# The lines of a kind of file, each as a map of its top-level fields. A line that is not a JSON object becomes a null row,
   which an audit counts. #}
{% macro duckdb__read_rows(kind) -%}
    read_json(
        getvariable('spotter_{{ kind }}_files'),
        format = 'newline_delimited',
        records = 'false',
        columns = {'fields': 'MAP(VARCHAR, JSON)'},
        ignore_errors = true,
        allow_empty = true,
        filename = 'file_path',
        maximum_object_size = getvariable('spotter_max_row_bytes')
    )
{%- endmacro %}
