{% macro is_truncated(parts) %}
    {{- return(adapter.dispatch('is_truncated')(parts)) -}}
{% endmacro %}

{% macro duckdb__is_truncated(parts) %}
    coalesce({{ parts }}.status = 'incomplete', false)
    or coalesce({{ parts }}.output[-1].status = 'incomplete', false)
    or json_extract_string({{ parts }}.incomplete_details, '$.reason') is not null
{% endmacro %}
