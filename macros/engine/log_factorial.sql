{% macro log_factorial(number) %}
    {{- return(adapter.dispatch('log_factorial')(number)) -}}
{% endmacro %}

{% macro duckdb__log_factorial(number) %}
    lgamma({{ number }} + 1)
{% endmacro %}
