{# A list of texts, each once, from a var that is a list, one text or nothing. #}
{% macro text_list(given) -%}
    {%- set texts = ([given] if given is string else given or []) | unique | list -%}
    [{% for text in texts %}{{ quoted(text) }}{{ ', ' if not loop.last }}{% endfor %}]::varchar[]
{%- endmacro %}
