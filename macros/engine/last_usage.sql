{# The usage of a response. If the key appears twice the last one counts, as in Python.

   The text is minified, and inside a string every quote is escaped, so `"usage":` can only be a key. #}
{% macro last_usage(response, parts) %}
    {{- return(adapter.dispatch('last_usage')(response, parts)) -}}
{% endmacro %}

{% macro duckdb__last_usage(response, parts) %}
    case
        when {{ response }}::varchar like '%"usage":%"usage":%'
            then list_filter(
                {{ json_entries(response) }}, lambda entry: entry.key = 'usage'
            )[-1].value
        else {{ parts }}.usage
    end
{% endmacro %}
