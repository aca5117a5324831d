{# The prompt in `input`: a text, or a list of messages. A list of one gives the input a name. #}
{% macro spark__prompt(params) -%}
    {%- set messages -%}
        transform(
            cast(input as array<variant>),
            message -> named_struct(
                'type', try_variant_get(message, '$.type', 'string'),
                'role', try_variant_get(message, '$.role', 'string'),
                'text', {{ spark__content_text("try_variant_get(message, '$.content', 'variant')") }}
            )
        )
    {%- endset -%}
    get(filter(
        transform(
            array(try_variant_get(get(from_json('[' || {{ params }} || ']', 'array<variant>', {{ spark__json_options() }}), 0), '$.input', 'variant')),
            input -> case
                when schema_of_variant(input) = 'STRING' then cast(input as string)
                when schema_of_variant(input) like 'ARRAY%' then {{ prompt_text(messages) }}
            end
        ),
        prompt -> prompt != ''
    ), 0)
{%- endmacro %}

{# The text of a message: its content itself, or the texts of the content's parts. #}
{% macro spark__content_text(content) -%}
    case
        when schema_of_variant({{ content }}) = 'STRING' then cast({{ content }} as string)
        when schema_of_variant({{ content }}) like 'ARRAY%' then array_join(filter(
            transform(
                cast({{ content }} as array<variant>),
                part -> case
                    when schema_of_variant(try_variant_get(part, '$.text', 'variant')) = 'STRING'
                        then try_variant_get(part, '$.text', 'string')
                end
            ),
            text -> text != ''
        ), chr(10))
    end
{%- endmacro %}
