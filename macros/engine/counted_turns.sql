{# The number of turns of the model: consecutive items of its own in the output, between tool results. #}
{% macro counted_turns(types) %}
    {{- return(adapter.dispatch('counted_turns')(types)) -}}
{% endmacro %}

{% macro duckdb__counted_turns(types) %}
    {#- a turn begins where an item of the model follows the start or a tool result -#}
    {%- set flags -%}
        '-' || array_to_string(
            list_transform(
                {{ types }},
                lambda type: case when ends_with(type, '_output') then '-' else 'm' end
            ),
            ''
        )
    {%- endset -%}
    len(string_split({{ flags }}, '-m')) - 1
{% endmacro %}
