{% macro map_field(fields, name) %}
    {{- return(adapter.dispatch('map_field')(fields, name)) -}}
{% endmacro %}

{% macro duckdb__map_field(fields, name) %}
    {{- fields }}['{{ name }}']
{% endmacro %}
