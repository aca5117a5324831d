{# A member of a JSON object, the last if it appears twice, without parsing what stands before it.

   The text is minified and inside a string every quote is escaped, so `"name":` can only be a key. The text
   from the last such key on, with a brace before it, is an object exactly if the key belongs to the
   outermost object; otherwise, or when an escaped quote precedes it, the whole text is parsed.

   `pieces` is the text split at the key: as a column of its own, so that it is split once. #}
{% macro json_last_member(document, name, pieces) %}
    {{- return(adapter.dispatch('json_last_member')(document, name, pieces)) -}}
{% endmacro %}

{% macro duckdb__json_last_member(document, name, pieces) %}
    {%- set tail = "('{\"" ~ name ~ "\":' || " ~ pieces ~ "[-1])" -%}
    case
        when len({{ pieces }}) = 1 then null
        when json_valid({{ tail }}) and not ends_with({{ pieces }}[-2], '\')
            then json_extract({{ tail }}, '$."{{ name }}"')
        else list_filter(
            {{ json_entries(document) }}, lambda entry: entry.key = '{{ name }}'
        )[-1].value
    end
{% endmacro %}
