{# What makes two tasks the same: the fields of the input and what the model is asked; not who is asked, which repeat it
   is, and how it is sampled. Both arguments are lists of (key, value); the second may be null. #}
{% macro content_hash(fields, params) -%}
    {%- set own -%}
        {{ list_map(
            list_where(
                fields, 'field',
                "field.key not in ('responses_create_params', 'agent_ref', 'skills_ref') and substr(field.key, 1, 4) != '_ng_'"
            ),
            'field', json_value('field.key') ~ " || ':' || coalesce(field.value, 'null')"
        ) }}
    {%- endset -%}
    {%- set asked -%}
        {{ list_map(
            list_where(
                params, 'field',
                "field.key in ('input', 'instructions', 'prompt', 'tools', 'tool_choice', 'parallel_tool_calls', 'text')"
            ),
            'field', "'params.' || field.key || ':' || coalesce(field.value, 'null')"
        ) }}
    {%- endset -%}
    md5(concat_ws(
        ',',
        nullif({{ list_join('array_sort(' ~ own ~ ')', "','") }}, ''),
        nullif({{ list_join('array_sort(' ~ asked ~ ')', "','") }}, '')
    ))
{%- endmacro %}
