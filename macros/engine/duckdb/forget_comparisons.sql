{# A comparison that is made again replaces the one before. #}
{% macro duckdb__forget_comparisons() %}
    {%- set pairs = ref('int_compared_runs') -%}
    {%- if is_incremental() %}
    delete from {{ this }}
    where (run_id, baseline_run_id) in (select (run_id, baseline_run_id) from {{ pairs }});
    {%- endif -%}
{% endmacro %}
