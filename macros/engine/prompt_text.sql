{# The text that the agent is asked: the input itself, or its messages without those of the system or the
   developer. Null if there is none. #}
{% macro prompt_text(params) %}
    {{- return(adapter.dispatch('prompt_text')(params)) -}}
{% endmacro %}

{% macro duckdb__prompt_text(params) %}
    {%- set texts -%}
        list_transform(
            list_filter(
                from_json(input, '[{"type": "VARCHAR", "role": "VARCHAR", "content": "JSON"}]'),
                lambda message: coalesce(message.type, 'message') = 'message'
                and coalesce(message.role, '') not in ('system', 'developer')
            ),
            lambda message: {{ content_text('message.content') }}
        )
    {%- endset -%}
    {#- a list of one gives the input a name; nullif would compute its text twice -#}
    list_filter(
        list_transform(
            [json_extract({{ params }}, '$.input')],
            lambda input: case ascii(input)
                when 34 then {{ json_text('input') }}
                when 91 then {{ join_texts(texts, 'chr(10) || chr(10)') }}
            end
        ),
        lambda prompt: prompt != ''
    )[1]
{% endmacro %}
