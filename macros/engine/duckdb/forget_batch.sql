{# The runs leave the mart also when they have no rows in it now. Staging that holds another batch is an error. #}
{% macro duckdb__forget_batch() %}
    {%- set batch = ref('stg_runs') -%}  {#- outside of the condition, where dbt sees it -#}
    select error(
        'Staging holds ' || rollouts_path || ', read with other vars: build staging too, with --select stg_runs+'
    )
    from {{ batch }}
    where batch_hash != '{{ batch_hash() }}';
    {%- if is_incremental() %}
    delete from {{ this }} where run_id in (select run_id from {{ batch }});
    {%- endif -%}
{% endmacro %}
