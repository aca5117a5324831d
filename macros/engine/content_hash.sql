{% macro content_hash(document) %}
    {{- return(adapter.dispatch('content_hash')(document)) -}}
{% endmacro %}

{% macro duckdb__content_hash(document) %}
    {#- what the model is asked, without who is asked, which repeat it is, and how it is sampled -#}
    md5(array_to_string(list_sort(list_concat(
        list_transform(
            list_filter(
                {{ json_entries(document) }},
                lambda field: field.key not in ('responses_create_params', 'agent_ref', 'skills_ref')
                and not starts_with(field.key, '_ng_')
            ),
            lambda field: to_json(field.key)::varchar || ':' || field.value
        ),
        list_transform(
            list_filter(
                {{ json_entries(list_item(json_members(document, ['responses_create_params']), 1)) }},
                lambda field: field.key in (
                    'input', 'instructions', 'prompt', 'tools', 'tool_choice',
                    'parallel_tool_calls', 'text'
                )
            ),
            lambda field: 'params.' || field.key || ':' || field.value
        )
    )), ','))
{% endmacro %}
