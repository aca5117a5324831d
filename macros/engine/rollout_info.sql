{# The compact record of a rollout as JSON text: its keys, the reward as written, then its numbers.
   Where the rollout and its usage share a name, it keeps the rollout's own. #}
{% macro rollout_info() %}
    {{- return(adapter.dispatch('rollout_info')()) -}}
{% endmacro %}

{% macro duckdb__rollout_info() %}
    '{' || concat_ws(
        ',',
        case
            when not list_contains(
                list_transform(own_fields || usage_fields, lambda entry: entry.key), 'rollout_id'
            )
                then '"rollout_id":"' || task_index || ':' || rollout_index || '"'
        end,
        '"_ng_task_index":' || task_index,
        '"_ng_rollout_index":' || rollout_index,
        case
            when has_reward
                and coalesce(isfinite(try_cast(reward_literal::varchar as double)), true)
                then '"reward":' || coalesce(reward_literal, 'null')
        end,
        nullif(array_to_string(
            list_transform(
                list_filter(
                    {{ unite_entries('own_fields', 'usage_fields') }},
                    lambda entry: isfinite({{ entry_number('entry.value') }})
                    and (entry.key != 'reward' or not has_reward)
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
