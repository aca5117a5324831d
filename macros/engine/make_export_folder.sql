{# Create the folders of an exported mart. Only a partitioned copy creates folders; without rows it writes no file. #}
{% macro make_export_folder() %}
    {{- return(adapter.dispatch('make_export_folder')()) -}}
{% endmacro %}

{% macro duckdb__make_export_folder() %}
    {%- for folder in export_folders(this) %}
        copy (select 1 as nothing, 1 as part where false) to {{ quoted(folder) }}
        (format parquet, partition_by (part), overwrite_or_ignore true);
    {%- endfor %}
{% endmacro %}
