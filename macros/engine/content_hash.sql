{% macro content_hash(entries, params) %}
    {{- return(adapter.dispatch('content_hash')(entries, params)) -}}
{% endmacro %}

{% macro duckdb__content_hash(entries, params) %}
    {#- the request to the model, without the agent, the indices and the sampling settings -#}
    md5(array_to_string(list_sort(list_concat(
        list_transform(
            list_filter(
                {{ entries }},
                lambda field: field.key not in ('responses_create_params', 'agent_ref', 'skills_ref')
                and not starts_with(field.key, '_ng_')
            ),
            lambda field: to_json(field.key)::varchar || ':' || coalesce(field.value, 'null')
        ),
        list_transform(
            list_filter(
                {{ params }},
                lambda field: field.key in (
                    'input', 'instructions', 'prompt', 'tools', 'tool_choice',
                    'parallel_tool_calls', 'text'
                )
            ),
            lambda field: 'params.' || field.key || ':' || coalesce(field.value, 'null')
        )
    )), ','))
{% endmacro %}
