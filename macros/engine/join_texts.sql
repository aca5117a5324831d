{# The texts of a list without the empty ones, joined with a separator. #}
{% macro join_texts(texts, separator) %}
    {{- return(adapter.dispatch('join_texts')(texts, separator)) -}}
{% endmacro %}

{% macro duckdb__join_texts(texts, separator) %}
    array_to_string(list_filter({{ texts }}, lambda text: text != ''), {{ separator }})
{% endmacro %}
