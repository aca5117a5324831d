{# The lines of a kind of file as JSON text: faster than as maps where few fields are needed. #}
{% macro read_lines(kind) %}
    {{- return(adapter.dispatch('read_lines')(kind)) -}}
{% endmacro %}

{% macro duckdb__read_lines(kind) %}
    {#- a line that is no JSON becomes a null row: the audits count it -#}
    read_json(
        getvariable('spotter_{{ kind }}_files'),
        format = 'newline_delimited',
        records = 'false',
        columns = {'line': 'JSON'},
        ignore_errors = true,
        allow_empty = true,
        filename = 'file_path',
        maximum_object_size = getvariable('spotter_max_row_bytes')
    )
{% endmacro %}
