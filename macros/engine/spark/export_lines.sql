{% macro spark__export_lines(relation, run_id, folder) %}
    insert overwrite directory {{ spark__text_literal(spark__full_path(folder)) }} using text
    select line from {{ relation }} where run_id = {{ spark__text_literal(run_id) }}
{% endmacro %}
