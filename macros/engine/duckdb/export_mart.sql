{# Nothing in SQL makes a folder, except for partitions: an export of no rows makes each folder of the path. #}
{% macro duckdb__export_mart(relation, columns, folder) %}
    {%- set parts = folder.split('/') -%}
    {%- for depth in range(1, parts | length + 1) if parts[:depth] | join('/') %}
        copy (select 1 as nothing, 1 as part where false)
        to {{ duckdb__text_literal(parts[:depth] | join('/')) }}
        (format parquet, partition_by (part), overwrite_or_ignore true);
    {%- endfor %}
    copy (
        select
            {%- for column in columns.values() %}
            {{ as_utc(column.name) if column.data_type == 'timestamp' else column.name }} as {{ column.name }}
            {{- ',' if not loop.last }}
            {%- endfor %}
        from {{ relation }}
    ) to {{ duckdb__text_literal(folder ~ '/part-0.parquet') }} (format parquet)
{% endmacro %}
