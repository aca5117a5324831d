{# Whether no item of the output is a text or a tool call. Reasoning and the results of tools do not count. A text is a
   string as the content, or as the text or refusal of one of its parts: not only white space. #}
{% macro is_output_empty(output) -%}
    {%- set text = '(?:^|"(?:text|refusal)":)"(?:\\\\[nrtf]|\\pZ)*(?:[^"\\\\\\pZ]|\\\\[^nrtf])' -%}
    {%- set speaks -%}
        case
            when coalesce(item.type, 'message') = 'message'
                then {{ matches("coalesce(cast(item.content as string), '')", text) }}
            else item.type != 'reasoning' and right(item.type, 7) != '_output'
        end
    {%- endset -%}
    not coalesce(array_contains({{ list_map(output, 'item', speaks) }}, true), false)
{%- endmacro %}
