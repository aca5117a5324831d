{# The fields of a line as a list of (key, value). #}
{% macro map_entries(fields) %}
    {{- return(adapter.dispatch('map_entries')(fields)) -}}
{% endmacro %}

{% macro duckdb__map_entries(fields) %}
    map_entries({{ fields }})
{% endmacro %}
