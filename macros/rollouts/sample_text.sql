{# The input row as JSON text, in its own order and without its two indices. #}
{% macro sample_text(fields) -%}
    '{' || {{ list_join(
        list_map(
            list_where(fields, 'field', "field.key not in ('_ng_task_index', '_ng_rollout_index')"),
            'field', json_value('field.key') ~ " || ':' || coalesce(field.value, 'null')"
        ),
        "','"
    ) }} || '}'
{%- endmacro %}
