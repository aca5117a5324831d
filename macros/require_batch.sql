{# Hook: fail if a mart would be built from staging that was read with other vars, or from intermediate models that were not
   built since. #}
{% macro require_batch() %}
    {#- a ref stands outside of conditions, where dbt sees it -#}
    {%- set batch = ref('stg_runs') -%}
    {%- if execute -%}
        {%- set stale = run_query('select rollouts_path from ' ~ batch ~ " where batch_hash != '" ~ batch_hash() ~ "' limit 1") -%}
        {%- if stale.rows -%}
            {{ exceptions.raise_compiler_error(
                'Staging holds ' ~ stale.rows[0][0] ~ ', read with other vars: build staging too, with --select stg_runs+'
            ) }}
        {%- endif -%}
        {%- set upstream = [] -%}
        {%- do find_upstream(model.unique_id, upstream) -%}
        {%- for node in upstream if is_intermediate(node) and not load_cached_relation(model_relation(node)) -%}
            {{ exceptions.raise_compiler_error(
                node.name ~ ' was not built since the runs were staged: build it too, with --select stg_runs+'
            ) }}
        {%- endfor -%}
    {%- endif -%}
{% endmacro %}

{% macro find_upstream(unique_id, found) %}
    {%- for parent in graph.nodes[unique_id].depends_on.nodes if graph.nodes[parent] not in found -%}
        {%- do found.append(graph.nodes[parent]) -%}
        {%- do find_upstream(parent, found) -%}
    {%- endfor -%}
{% endmacro %}
