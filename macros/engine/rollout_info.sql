{# The compact record of a rollout as JSON text: its keys, the reward as written, then its numbers. #}
{% macro rollout_info(rollouts) %}
    {{- return(adapter.dispatch('rollout_info')(rollouts)) -}}
{% endmacro %}

{% macro duckdb__rollout_info(rollouts) %}
    '{' || concat_ws(
        ',',
        '"rollout_id":"' || {{ rollouts }}.task_index || ':' || {{ rollouts }}.rollout_index || '"',
        '"_ng_task_index":' || {{ rollouts }}.task_index,
        '"_ng_rollout_index":' || {{ rollouts }}.rollout_index,
        case
            when {{ rollouts }}.has_reward
                and coalesce(isfinite(try_cast({{ rollouts }}.reward_literal::varchar as double)), true)
                then '"reward":' || coalesce({{ rollouts }}.reward_literal, 'null')
        end,
        nullif({{ json_members(finite_fields(
            "list_filter(" ~ rollouts ~ ".info_fields, lambda f: f.name != 'reward' or not "
            ~ rollouts ~ ".has_reward)"
        )) }}, '')
    ) || '}'
{% endmacro %}
