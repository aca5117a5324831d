{# Hook: remove the runs of the batch from a mart before they are inserted again. They leave it also when they have no rows
   in it now. #}
{% macro forget_batch() %}{{ return(adapter.dispatch('forget_batch')()) }}{% endmacro %}

{% macro duckdb__forget_batch() %}
    {#- a ref stands outside of conditions, where dbt sees it -#}
    {%- set batch = ref('stg_runs') -%}
    {%- if is_incremental() %}
    delete from {{ this }} where run_id in (select run_id from {{ batch }});
    {%- if 'baseline_run_id' in model.columns %}
    delete from {{ this }} where baseline_run_id in (select run_id from {{ batch }});
    {%- endif %}
    {%- endif -%}
{% endmacro %}

{# `insert overwrite` replaces only runs that have rows. #}
{% macro spark__forget_batch() %}
    {%- set batch = ref('stg_runs') -%}
    {%- if execute and is_incremental() -%}
        {#- dbt looks at the contract only where it creates the table -#}
        {%- do get_assert_columns_equivalent(model.compiled_code) -%}
        {%- set runs = run_query('select run_id from ' ~ batch).columns[0].values() -%}
        {{ spark__drop_partitions(this, runs) }}
    {%- endif -%}
{% endmacro %}

{# Drop the partitions of some runs, in one statement; of comparisons, those with one of the runs on either side. #}
{% macro spark__drop_partitions(relation, runs) %}
    {%- set parts = [] -%}
    {%- if 'baseline_run_id' in model.columns -%}
        {%- for row in run_query('select distinct baseline_run_id, run_id from ' ~ relation).rows -%}
            {%- if row[0] in runs or row[1] in runs -%}
                {%- do parts.append(spark__pair_partition(row[0], row[1])) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {%- for run in runs -%}{%- do parts.append('partition (run_id = ' ~ spark__text_literal(run) ~ ')') -%}{%- endfor -%}
    {%- endif -%}
    {%- if parts -%}{%- do run_query('alter table ' ~ relation ~ ' drop if exists ' ~ parts | join(', ')) -%}{%- endif -%}
{% endmacro %}

{% macro spark__pair_partition(baseline, run) -%}
    partition (baseline_run_id = {{ spark__text_literal(baseline) }}, run_id = {{ spark__text_literal(run) }})
{%- endmacro %}
