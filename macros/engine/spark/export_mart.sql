{# Spark makes the folders, and one file for each part of the table. #}
{% macro spark__export_mart(relation, columns, folder) %}
    insert overwrite directory {{ spark__text_literal(spark__full_path(folder)) }} using parquet
    select
        {%- for column in columns.values() %}
        {{ as_utc(column.name) if column.data_type == 'timestamp' else column.name }} as {{ column.name }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    from {{ relation }}
{% endmacro %}
