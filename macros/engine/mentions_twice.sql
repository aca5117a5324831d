{# Whether a text contains a name in quotes more than once: a cheap first test for repeated keys. #}
{% macro mentions_twice(document, name) %}
    {{- return(adapter.dispatch('mentions_twice')(document, name)) -}}
{% endmacro %}

{% macro duckdb__mentions_twice(document, name) %}
    len(string_split({{ document }}::varchar, '"{{ name }}"')) > 2
{% endmacro %}
