{# Remove the batch's runs from a mart before they are inserted again, even if they now have no rows. #}
{% macro forget_batch() %}
    {%- set batch = ref('stg_runs') -%}  {#- outside of the condition, where dbt sees it -#}
    {%- if is_incremental() -%}
        delete from {{ this }} where run_id in (select run_id from {{ batch }})
    {%- endif -%}
{% endmacro %}
