{# The compact record of a rollout as JSON text: its keys, the reward as written, then its numbers.
   Where the rollout and its usage share a name, it keeps the rollout's own; the reward is the usage's if that has one. #}
{% macro rollout_info(task_index, rollout_index, reward, own_fields, own_keys, usage_fields, number_keys) %}
    {{- return(adapter.dispatch('rollout_info')(
        task_index, rollout_index, reward, own_fields, own_keys, usage_fields, number_keys
    )) -}}
{% endmacro %}

{% macro duckdb__rollout_info(
    task_index, rollout_index, reward, own_fields, own_keys, usage_fields, number_keys
) %}
    '{' || concat_ws(
        ',',
        case
            when not list_contains({{ own_keys }}, 'rollout_id')
                and not list_contains({{ number_keys }}, 'rollout_id')
                then '"rollout_id":"' || {{ task_index }} || ':' || {{ rollout_index }} || '"'
        end,
        '"_ng_task_index":' || {{ task_index }},
        '"_ng_rollout_index":' || {{ rollout_index }},
        case
            when not list_contains({{ number_keys }}, 'reward')
                and coalesce(isfinite(try_cast({{ reward }}::varchar as double)), true)
                then '"reward":' || {{ reward }}
        end,
        nullif(array_to_string(
            list_transform(
                list_filter(
                    list_concat(
                        list_filter({{ own_fields }}, lambda entry: entry.key != 'reward'),
                        list_filter(
                            {{ usage_fields }},
                            lambda entry: entry.key = 'reward'
                            or not list_contains({{ own_keys }}, entry.key)
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
