{% macro has_non_finite(document) %}
    {{- return(adapter.dispatch('has_non_finite')(document)) -}}
{% endmacro %}

{% macro duckdb__has_non_finite(document) %}
    {#- the first test is cheap but may match inside of a string; the second removes the strings -#}
    case
        when regexp_matches({{ document }}, '[:,\[]\s*-?(nan|inf)', 'i')
            then regexp_matches(
                regexp_replace({{ document }}, '"(?:[^"\\]|\\.)*"', '', 'gs'), 'nan|inf', 'i'
            )
        else false
    end
{% endmacro %}
