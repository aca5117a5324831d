{# The text of a message: its content itself, or the texts of the content's parts. #}
{% macro content_text(content) %}
    {{- return(adapter.dispatch('content_text')(content)) -}}
{% endmacro %}

{% macro duckdb__content_text(content) %}
    {%- set texts -%}
        list_transform(
            from_json({{ content }}, '[{"text": "JSON"}]'),
            lambda part: case when ascii(part.text) = 34 then {{ json_text('part.text') }} end
        )
    {%- endset -%}
    {#- the first character tells a string (34) from a list (91), and both from anything else -#}
    case ascii({{ content }})
        when 34 then {{ json_text(content) }}
        when 91 then {{ join_texts(texts, 'chr(10)') }}
    end
{% endmacro %}
