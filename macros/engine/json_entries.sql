{# The members of a JSON object as a list of (key, value). #}
{% macro json_entries(document) %}
    {{- return(adapter.dispatch('json_entries')(document)) -}}
{% endmacro %}

{% macro duckdb__json_entries(document) %}
    {#- much faster than a cast to a map; a name may appear twice -#}
    list_zip(json_keys({{ document }}), json_extract({{ document }}, '$.*'))
    ::struct(key varchar, value json)[]
{% endmacro %}
