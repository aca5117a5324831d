{# The texts of a list, with commas. #}
{% macro list_text(list) %}
    {{- return(adapter.dispatch('list_text')(list)) -}}
{% endmacro %}

{% macro duckdb__list_text(list) %}
    array_to_string({{ list }}, ', ')
{% endmacro %}
