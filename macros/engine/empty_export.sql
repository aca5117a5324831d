{# dbt-duckdb writes a row of nulls for a table without rows; write the file again without that row. #}
{% macro empty_export() %}
    {{- return(adapter.dispatch('empty_export')()) -}}
{% endmacro %}

{% macro duckdb__empty_export() %}
    {%- if execute and run_query('select 1 from ' ~ this ~ ' limit 1') | length == 0 -%}
        copy (select * from {{ this }}) to {{ quoted(external_location(this, config)) }}
        (format parquet)
    {%- endif -%}
{% endmacro %}
