{# Where dbt-duckdb writes an exported mart: one folder per mart, separate from the files of `spotter export`. #}
{% macro external_location(relation, config) %}
    {{- export_folders(relation) | last }}/part-0.parquet
{%- endmacro %}
