{# The prompt in `input`: a text, or a list of messages. A list of one gives the input a name. #}
{% macro duckdb__prompt(params) -%}
    {%- set messages -%}
        list_transform(
            from_json(input, '[{"type": "VARCHAR", "role": "VARCHAR", "content": "JSON"}]'),
            lambda message: {
                'type': message.type, 'role': message.role, 'text': {{ duckdb__content_text('message.content') }}
            }
        )
    {%- endset -%}
    list_filter(
        list_transform(
            [json_extract({{ params }}, '$.input')],
            lambda input: case ascii(input)
                when 34 then json_extract_string(input, '$')
                when 91 then {{ prompt_text(messages) }}
            end
        ),
        lambda prompt: prompt != ''
    )[1]
{%- endmacro %}

{# The text of a message: its content itself, or the texts of the content's parts.
   The first character tells a string (34) from a list (91), and both from anything else. #}
{% macro duckdb__content_text(content) -%}
    case ascii({{ content }})
        when 34 then json_extract_string({{ content }}, '$')
        when 91 then array_to_string(list_filter(
            list_transform(
                from_json({{ content }}, '[{"text": "JSON"}]'),
                lambda part: case when ascii(part.text) = 34 then json_extract_string(part.text, '$') end
            ),
            lambda text: text != ''
        ), chr(10))
    end
{%- endmacro %}
