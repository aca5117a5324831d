{% macro is_finite(number) %}
    {{- return(adapter.dispatch('is_finite')(number)) -}}
{% endmacro %}

{% macro duckdb__is_finite(number) %}
    isfinite({{ number }})
{% endmacro %}
