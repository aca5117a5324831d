{# The compact record of a rollout as JSON text: its keys, the reward as written, then its numbers. Where the rollout and its
   usage share a name, the record keeps the rollout's own, except for the reward. #}
{% macro rollout_info(task_index, rollout_index, reward, own_fields, own_keys, usage_fields, usage_keys) -%}
    {%- set kept -%}
        {{ list_where(own_fields, 'field', "field.key != 'reward'") }}
        || {{ list_where(
            usage_fields, 'field', "field.key = 'reward' or not array_contains(" ~ own_keys ~ ', field.key)'
        ) }}
    {%- endset -%}
    '{' || concat_ws(
        ',',
        case
            when not array_contains({{ own_keys }}, 'rollout_id')
                and not array_contains({{ usage_keys }}, 'rollout_id')
                then '"rollout_id":"' || {{ task_index }} || ':' || {{ rollout_index }} || '"'
        end,
        '"_ng_task_index":' || {{ task_index }},
        '"_ng_rollout_index":' || {{ rollout_index }},
        case
            when not array_contains({{ usage_keys }}, 'reward')
                and coalesce({{ is_finite('try_cast(' ~ reward ~ ' as double)') }}, true)
                then '"reward":' || {{ reward }}
        end,
        nullif({{ list_join(
            list_map(
                list_where('(' ~ kept ~ ')', 'field', is_finite(metric_number('field.value'))),
                'field',
                json_value('field.key')
                ~ " || ':' || case cast(field.value as string) when 'true' then '1' when 'false' then '0'"
                ~ ' else cast(field.value as string) end'
            ),
            "','"
        ) }}, '')
    ) || '}'
{%- endmacro %}
