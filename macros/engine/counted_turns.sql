{# How often the model was asked: runs of its own items in the output, between the results of tools. #}
{% macro counted_turns(types) %}
    {{- return(adapter.dispatch('counted_turns')(types)) -}}
{% endmacro %}

{% macro duckdb__counted_turns(types) %}
    {#- a result of a tool with an item of the model behind it begins another turn, as does the start -#}
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
