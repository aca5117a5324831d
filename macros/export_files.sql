{# Write NeMo Gym's profile of each run of the batch as a folder of lines, <folder>/<run>_reward_profiling/part-…: for runs
   whose tasks are too many for one file. `spotter profile` writes single files.
   dbt run-operation export_files --target spark --args '{folder: s3a://bucket/profiles}' #}
{% macro export_files(folder) %}
    {%- set profiles = model_relation(graph.nodes['model.spotter.export_reward_profiling']) -%}
    {%- for run_id in run_query('select run_id from ' ~ batch_runs()).columns[0].values() -%}
        {%- set place = folder ~ '/' ~ run_id | replace('/', '-') ~ '_reward_profiling' -%}
        {%- do run_query(export_lines(profiles, run_id, place)) -%}
        {{ log(place, info=true) }}
    {%- endfor -%}
{% endmacro %}
