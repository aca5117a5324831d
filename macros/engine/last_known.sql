{# The last value that is not null, as a window function. #}
{% macro last_known(expression) %}
    {{- return(adapter.dispatch('last_known')(expression)) -}}
{% endmacro %}

{% macro duckdb__last_known(expression) %}
    last_value({{ expression }} ignore nulls)
{% endmacro %}
