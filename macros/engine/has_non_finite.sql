{% macro has_non_finite(document) %}
    {{- return(adapter.dispatch('has_non_finite')(document)) -}}
{% endmacro %}

{% macro duckdb__has_non_finite(document) %}
    {#- may also match inside a string: it only decides whether the line gets a closer look -#}
    regexp_matches({{ document }}, '[:,\[]\s*-?(NaN|Infinity)', 'i')
{% endmacro %}
