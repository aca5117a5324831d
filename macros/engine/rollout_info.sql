{# The compact record of a rollout as JSON text: its keys, the reward as written, then its numbers.
   Where the rollout and its usage share a name, it keeps the rollout's own; the reward is the usage's if that has one. #}
{% macro rollout_info(task_index, rollout_index, has_reward, reward, own_fields, usage_fields) %}
    {{- return(adapter.dispatch('rollout_info')(
        task_index, rollout_index, has_reward, reward, own_fields, usage_fields
    )) -}}
{% endmacro %}

{% macro duckdb__rollout_info(task_index, rollout_index, has_reward, reward, own_fields, usage_fields) %}
    {%- set names = 'list_transform(' ~ own_fields ~ ', lambda entry: entry.key)' -%}
    '{' || concat_ws(
        ',',
        case
            when not list_contains(
                list_transform(
                    list_concat({{ own_fields }}, {{ usage_fields }}), lambda entry: entry.key
                ),
                'rollout_id'
            )
                then '"rollout_id":"' || {{ task_index }} || ':' || {{ rollout_index }} || '"'
        end,
        '"_ng_task_index":' || {{ task_index }},
        '"_ng_rollout_index":' || {{ rollout_index }},
        case
            when {{ has_reward }}
                and coalesce(isfinite(try_cast({{ reward }}::varchar as double)), true)
                and not list_contains(
                    list_transform({{ usage_fields }}, lambda entry: entry.key), 'reward'
                )
                then '"reward":' || coalesce({{ reward }}, 'null')
        end,
        nullif(array_to_string(
            list_transform(
                list_filter(
                    list_concat(
                        list_filter({{ own_fields }}, lambda entry: entry.key != 'reward'),
                        list_filter(
                            {{ usage_fields }},
                            lambda entry: entry.key = 'reward'
                            or not list_contains({{ names }}, entry.key)
                        )
                    ),
                    lambda entry: isfinite({{ entry_number('entry.value') }})
                ),
                lambda entry: to_json(entry.key)::varchar || ':' || case entry.value::varchar
                    when 'true' then '1'
                    when 'false' then '0'
                    else entry.value::varchar
                end
            ),
            ','
        ), '')
    ) || '}'
{% endmacro %}
