{# What a response says of itself, and the fields of its items that tell two outputs apart, from the parsed response. #}
{% macro spark__response_parts(response) -%}
    {%- set texts = ['name', 'arguments', 'input', 'action', 'code', 'queries', 'summary'] -%}
    named_struct(
        'model', try_variant_get({{ response }}, '$.model', 'string'),
        'status', try_variant_get({{ response }}, '$.status', 'string'),
        'incomplete_reason', try_variant_get({{ response }}, '$.incomplete_details.reason', 'string'),
        'created_at', try_variant_get({{ response }}, '$.created_at', 'double'),
        'temperature', try_variant_get({{ response }}, '$.temperature', 'double'),
        'top_p', try_variant_get({{ response }}, '$.top_p', 'double'),
        'max_output_tokens', try_variant_get({{ response }}, '$.max_output_tokens', 'bigint'),
        'effort', try_variant_get({{ response }}, '$.reasoning.effort', 'string'),
        'output', transform(
            try_variant_get({{ response }}, '$.output', 'array<variant>'),
            item -> case
                when schema_of_variant(item) like 'OBJECT%' then named_struct(
                    'type', try_variant_get(item, '$.type', 'string'),
                    'status', try_variant_get(item, '$.status', 'string'),
                    'content', to_json(try_variant_get(item, '$.content', 'variant'))
                    {%- for text in texts %},
                    '{{ text }}', try_variant_get(item, '$.{{ text }}', 'string')
                    {%- endfor %}
                )
            end
        )
    )
{%- endmacro %}

{# The usage of a response, as JSON text: where it may be there twice, the last, as Python reads it. The text is minified,
   and inside a string every quote is escaped, so `"usage":` can only be a key. #}
{% macro spark__last_usage(response) -%}
    case
        when {{ response }} like '%"usage":%"usage":%'
            then element_at(filter(
                map_entries(from_json({{ response }}, 'map<string, string>', {{ spark__json_options() }})),
                member -> member.key = 'usage'
            ), -1).value
        else get_json_object({{ response }}, '$.usage')
    end
{%- endmacro %}
