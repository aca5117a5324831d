{# Hook: a comparison that is made again replaces the one before. #}
{% macro forget_comparisons() %}{{ return(adapter.dispatch('forget_comparisons')()) }}{% endmacro %}

{% macro duckdb__forget_comparisons() %}
    {%- set pairs = ref('int_compared_runs') -%}
    {%- if is_incremental() %}
    delete from {{ this }}
    where (run_id, baseline_run_id) in (select (run_id, baseline_run_id) from {{ pairs }});
    {%- endif -%}
{% endmacro %}

{% macro spark__forget_comparisons() %}
    {%- set pairs = ref('int_compared_runs') -%}
    {%- if execute and is_incremental() -%}
        {%- set parts = [] -%}
        {%- for row in run_query('select distinct baseline_run_id, run_id from ' ~ pairs).rows -%}
            {%- do parts.append(spark__pair_partition(row[0], row[1])) -%}
        {%- endfor -%}
        {%- if parts -%}{%- do run_query('alter table ' ~ this ~ ' drop if exists ' ~ parts | join(', ')) -%}{%- endif -%}
    {%- endif -%}
{% endmacro %}
