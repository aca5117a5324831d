{# Remove the batch's runs from a mart before they are inserted again, also when they now have no rows. #}
{% macro forget_batch() %}
    {%- if is_incremental() -%}
        delete from {{ this }} where run_id in (select run_id from {{ ref('stg_runs') }})
    {%- endif -%}
{% endmacro %}
