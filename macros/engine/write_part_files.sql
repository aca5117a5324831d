{# Hook: write the lines of NeMo Gym's profile as part files, if the var `part_files` names a folder. #}
{% macro write_part_files() %}{{ return(adapter.dispatch('write_part_files')()) }}{% endmacro %}

{# One process writes one file well. #}
{% macro duckdb__write_part_files() %}
    {%- if execute and var('part_files') -%}
        {{ exceptions.raise_compiler_error(
            'The var part_files is for Spark: without it, `spotter profile` writes the files of NeMo Gym'
        ) }}
    {%- endif -%}
{% endmacro %}

{# NeMo Gym's files of each run of the batch, each as a folder of part files: the views may also show runs that were built
   before. `order by` splits the lines of the profile into ranges, so the names of its parts are in the order of the lines. The
   other two files are JSON lists with an entry for each agent, or for each agent and repeat, in one part. #}
{% macro spark__write_part_files() %}
    {#- a ref stands outside of conditions, where dbt sees it -#}
    {%- set batch = ref('stg_runs') -%}
    {%- set files = {
        'export_reward_profiling': ('_reward_profiling.jsonl', spark__profile_lines(this)),
        'export_agent_metrics': ('_agent_metrics.json', spark__json_list(this, 'agent_name')),
        'export_repeat_level_metrics': ('_repeat_level_metrics.json', spark__json_list(this, 'agent_name, rollout_index'))
    } -%}
    {%- if execute and var('part_files') and this.name in files -%}
        {%- set suffix, query = files[this.name] -%}
        {%- for run in run_query('select run_id from ' ~ batch ~ ' order by run_id').columns[0].values() -%}
            {%- set place = spark__full_path(var('part_files')) ~ '/' ~ run | replace('/', '-') ~ suffix -%}
            {%- do run_query(
                'insert overwrite directory ' ~ spark__text_literal(place) ~ ' using text '
                ~ query | replace('$run', spark__text_literal(run))
            ) -%}
        {%- endfor -%}
    {%- endif -%}
{% endmacro %}

{% macro spark__profile_lines(relation) -%}
    select line from {{ relation }} where run_id = $run order by task_index, agent_name nulls last
{%- endmacro %}

{% macro spark__json_list(relation, key) -%}
    select '[' || array_join(
        transform(array_sort(collect_list(struct(agent_name is null as is_last, {{ key }}, line))), one -> one.line), ','
    ) || ']' as line
    from {{ relation }} where run_id = $run
{%- endmacro %}
