{# Whether no item of the output is a text or a tool call. Reasoning and the results of tools do not count. #}
{% macro is_output_empty(parts) %}
    {{- return(adapter.dispatch('is_output_empty')(parts)) -}}
{% endmacro %}

{% macro duckdb__is_output_empty(parts) %}
    {#- a text is a string content, or the text or refusal of a content part, with more than white space -#}
    {%- set text = '(?:^|"(?:text|refusal)":)"(?:\\\\[nrtf]|\\pZ)*(?:[^"\\\\\\pZ]|\\\\[^nrtf])' -%}
    coalesce(len(list_filter(
        {{ parts }}.output,
        lambda item: case
            when coalesce(item.type, 'message') = 'message'
                then regexp_matches(coalesce(item.content::varchar, ''), '{{ text }}')
            else item.type != 'reasoning' and not ends_with(item.type, '_output')
        end
    )), 0) = 0
{% endmacro %}
