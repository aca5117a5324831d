{% macro quantile(expression, share) %}
    {{- return(adapter.dispatch('quantile')(expression, share)) -}}
{% endmacro %}

{% macro duckdb__quantile(expression, share) %}
    quantile_cont({{ expression }}, {{ share }})
{% endmacro %}
