{# A member of a JSON object, the last if it appears twice, without parsing what stands before it.

   The text is minified and inside a string every quote is escaped, so `"name":` can only be a key. The text
   from the last such key on, with a brace before it, is an object exactly if the key belongs to the
   outermost object; otherwise, or when an escaped quote precedes it, the whole text is parsed. #}
{% macro json_last_member(document, name) %}
    {{- return(adapter.dispatch('json_last_member')(document, name)) -}}
{% endmacro %}

{% macro duckdb__json_last_member(document, name) %}
    {%- set key = '"' ~ name ~ '":' -%}
    {%- set pieces = "string_split(" ~ document ~ "::varchar, '" ~ key ~ "')" -%}
    {%- set tail = "('{" ~ key ~ "' || " ~ pieces ~ "[-1])" -%}
    case
        when len({{ pieces }}) = 1 then null
        when json_valid({{ tail }}) and not ends_with({{ pieces }}[-2], '\')
            then json_extract({{ tail }}, '$."{{ name }}"')
        else list_filter(
            {{ json_entries(document) }}, lambda entry: entry.key = '{{ name }}'
        )[-1].value
    end
{% endmacro %}
