{# The numbers from 1 to a limit, as rows. #}
{% macro numbers_to(limit) %}
    {{- return(adapter.dispatch('numbers_to')(limit)) -}}
{% endmacro %}

{% macro duckdb__numbers_to(limit) %}
    unnest(range(1, {{ limit }} + 1))
{% endmacro %}
