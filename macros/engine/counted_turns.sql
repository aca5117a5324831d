{# How often the model was asked: runs of its own items in the output, between the results of tools. #}
{% macro counted_turns(parts) %}
    {{- return(adapter.dispatch('counted_turns')(parts)) -}}
{% endmacro %}

{% macro duckdb__counted_turns(parts) %}
    len(regexp_extract_all(
        array_to_string(
            list_transform(
                {{ parts }}.output,
                lambda item: case when ends_with(item.type, '_output') then '-' else 'm' end
            ),
            ''
        ),
        'm+'
    ))
{% endmacro %}
