{# The runs leave the mart also when they have no rows in it now. Staging that was read with other vars is an error, and
   so are intermediate models that were built from other staging: a build may have stopped between the two. #}
{% macro duckdb__forget_batch() %}
    {#- refs stand outside of conditions, where dbt sees them -#}
    {%- set batch = ref('stg_runs') -%}
    {%- set keyed = ref('int_rollouts_keyed') -%}
    select error(
        'Staging holds ' || rollouts_path || ', read with other vars: build staging too, with --select stg_runs+'
    )
    from {{ batch }}
    where batch_hash != '{{ batch_hash() }}';
    select error('The intermediate models hold another batch than staging: build both, with --select stg_runs+')
    from {{ keyed }}
    where staged_at not in (select profiled_at from {{ batch }})
    limit 1;
    {%- if is_incremental() %}
    delete from {{ this }} where run_id in (select run_id from {{ batch }});
    {%- if 'baseline_run_id' in model.columns %}
    delete from {{ this }} where baseline_run_id in (select run_id from {{ batch }});
    {%- endif %}
    {%- endif -%}
{% endmacro %}
