{# The fields that tell which rollout a line is, and who runs it: much faster than all fields. #}
{% macro spark__read_keys(kind) -%}
    (
        select
            file_path,
            inline(array(from_json(
                line,
                '_ng_task_index string, _ng_rollout_index string, _ng_environment_server string, agent_ref string',
                {{ spark__json_options() }}
            )))
        from {{ spark__read_lines(kind) }}
    )
{%- endmacro %}
