{# The texts of a list, without empty ones, with something between. #}
{% macro join_texts(texts, separator) %}
    {{- return(adapter.dispatch('join_texts')(texts, separator)) -}}
{% endmacro %}

{% macro duckdb__join_texts(texts, separator) %}
    array_to_string(list_filter({{ texts }}, lambda text: text != ''), {{ separator }})
{% endmacro %}
