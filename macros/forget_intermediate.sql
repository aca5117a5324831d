{# Drop the intermediate models when a batch is staged: they hold the batch before. A build may stop between two of them,
   and a model that is built alone afterwards must not mix the batches. #}
{% macro forget_intermediate() %}
    {%- for node in graph.nodes.values() if is_intermediate(node) -%}
        {%- set relation = load_cached_relation(model_relation(node)) -%}
        {%- if relation -%}{%- do adapter.drop_relation(relation) -%}{%- endif -%}
    {%- endfor -%}
{% endmacro %}

{# Fail if an intermediate model upstream of the current model was dropped and not built again. #}
{% macro require_intermediate() %}
    {%- set upstream = [] -%}
    {%- do find_upstream(model.unique_id, upstream) -%}
    {%- for node in upstream if is_intermediate(node) and not load_cached_relation(model_relation(node)) -%}
        {{ exceptions.raise_compiler_error(
            node.name ~ ' was not built since the runs were staged: build it too, with --select stg_runs+'
        ) }}
    {%- endfor -%}
{% endmacro %}

{% macro find_upstream(unique_id, found) %}
    {%- for parent in graph.nodes[unique_id].depends_on.nodes if graph.nodes[parent] not in found -%}
        {%- do found.append(graph.nodes[parent]) -%}
        {%- do find_upstream(parent, found) -%}
    {%- endfor -%}
{% endmacro %}

{% macro is_intermediate(node) %}
    {{- return(node.unique_id.startswith('model.spotter.') and node.fqn[1] == 'intermediate') -}}
{% endmacro %}
