{# Rows from a list of records, with a column for each field. #}
{% macro rows_of(records) %}{{ return(adapter.dispatch('rows_of')(records)) }}{% endmacro %}

{% macro duckdb__rows_of(records) -%}
    unnest({{ records }}, recursive := true)
{%- endmacro %}

{% macro spark__rows_of(records) -%}
    inline({{ records }})
{%- endmacro %}
