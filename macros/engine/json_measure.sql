{# A finite number at a path of a JSON document; null for anything else. #}
{% macro json_measure(document, path) %}
    {{- return(adapter.dispatch('json_measure')(document, path)) -}}
{% endmacro %}

{% macro duckdb__json_measure(document, path) %}
    {{ finite("try_cast(json_extract(" ~ document ~ ", '" ~ path ~ "')::varchar as double)") }}
{% endmacro %}
