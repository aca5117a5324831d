{# The runs leave the mart also when they have no rows in it now. Staging that was read with other vars is an error. #}
{% macro duckdb__forget_batch() %}
    {#- a ref stands outside of conditions, where dbt sees it -#}
    {%- set batch = ref('stg_runs') -%}
    select error(
        'Staging holds ' || rollouts_path || ', read with other vars: build staging too, with --select stg_runs+'
    )
    from {{ batch }}
    where batch_hash != '{{ batch_hash() }}';
    {%- if execute -%}{{ require_intermediate() }}{%- endif -%}
    {%- if is_incremental() %}
    {%- set known = adapter.get_columns_in_relation(this) | map(attribute='name') | list -%}
    {%- for name, old_name in (model.config.meta.renamed_columns or {}).items() if old_name in known and name not in known %}
    alter table {{ this }} rename column {{ old_name }} to {{ name }};
    {%- endfor %}
    delete from {{ this }} where run_id in (select run_id from {{ batch }});
    {%- if 'baseline_run_id' in model.columns %}
    delete from {{ this }} where baseline_run_id in (select run_id from {{ batch }});
    {%- endif %}
    {%- endif -%}
{% endmacro %}
