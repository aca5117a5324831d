{# Write a mart as a Parquet file in a folder. #}
{% macro export_mart(relation, columns, folder) %}{{ return(adapter.dispatch('export_mart')(relation, columns, folder)) }}{% endmacro %}

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
            {{ ("timezone('UTC', " ~ column.name ~ ')') if column.data_type == 'timestamp' else column.name }} as {{ column.name }}
            {{- ',' if not loop.last }}
            {%- endfor %}
        from {{ relation }}
    ) to {{ duckdb__text_literal(folder ~ '/part-0.parquet') }} (format parquet)
{% endmacro %}

{# Spark makes the folders, and one file for each part of the table. #}
{% macro spark__export_mart(relation, columns, folder) %}
    insert overwrite directory {{ spark__text_literal(spark__full_path(folder)) }} using parquet
    select
        {%- for column in columns.values() %}
        {{ ('cast(' ~ column.name ~ ' as timestamp_ltz)') if column.data_type == 'timestamp' else column.name }} as {{ column.name }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    from {{ relation }}
{% endmacro %}
