{# Whether a list contains a value twice. #}
{% macro has_repetition(list) %}
    {{- return(adapter.dispatch('has_repetition')(list)) -}}
{% endmacro %}

{% macro duckdb__has_repetition(list) %}
    coalesce(list_unique({{ list }}) != len({{ list }}), false)
{% endmacro %}
