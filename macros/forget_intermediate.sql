{# Hook: drop the intermediate models when a batch is staged: they hold the batch before. A build may stop between two of them,
   and a model that is built alone afterwards must not mix the batches. #}
{% macro forget_intermediate() %}
    {%- if execute -%}
        {%- for node in graph.nodes.values() if is_intermediate(node) -%}
            {%- set relation = load_cached_relation(model_relation(node)) -%}
            {%- if relation -%}{%- do adapter.drop_relation(relation) -%}{%- endif -%}
        {%- endfor -%}
    {%- endif -%}
{% endmacro %}

{% macro is_intermediate(node) %}
    {{- return(node.unique_id.startswith('model.spotter.') and node.fqn[1] == 'intermediate') -}}
{% endmacro %}
