{# Where dbt-duckdb writes an exported mart: a folder a mart, apart from what `spotter export` writes. #}
{% macro external_location(relation, config) %}
    {{- export_folders(relation) | last }}/part-0.parquet
{%- endmacro %}
