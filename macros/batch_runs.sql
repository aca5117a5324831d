{# The runs of the batch, for tests: a broken run that was built before must not fail the build of another. It is not a
   `ref`, because `dbt build --select stg_runs` would then choose every test, also of marts that are not there yet. #}
{% macro batch_runs() %}
    {%- if execute -%}
        (select batch.run_id from {{ model_relation(graph.nodes['model.spotter.stg_runs']) }} as batch)
    {%- endif -%}
{% endmacro %}
