{# The names of the checks in a list of findings, with commas; null if there is none. #}
{% macro check_names(findings) %}
    {{- return(adapter.dispatch('check_names')(findings)) -}}
{% endmacro %}

{% macro duckdb__check_names(findings) %}
    nullif(array_to_string(
        list_sort(list_distinct(json_extract_string({{ findings }}, '$[*].check'))), ', '
    ), '')
{% endmacro %}
