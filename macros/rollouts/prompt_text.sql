{# What the agent is asked: the texts of the messages, without those of the system and the developer. The argument is a
   list of (type, role, text). #}
{% macro prompt_text(messages) -%}
    {{ list_join(
        list_map(
            list_where(
                messages, 'message',
                "coalesce(message.type, 'message') = 'message' and coalesce(message.role, '') not in ('system', 'developer')"
                ~ " and message.text != ''"
            ),
            'message', 'message.text'
        ),
        'chr(10) || chr(10)'
    ) }}
{%- endmacro %}
